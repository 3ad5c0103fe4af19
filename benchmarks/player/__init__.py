"""The border between the referee, who knows the truth, and attacks of other people.

An attack that is not of this package is imported and run in a *player* process of its own. It gets
views and sends back guesses; tables, scores, ceilings and the store stay with the referee. Read
``foreign_attack`` first: what the game sees of such an attack. ``referee`` starts and ends players,
``keeper`` is the clean process they are forked from, ``serve`` is what a player does, and
``messages`` reads what it sends.
"""
