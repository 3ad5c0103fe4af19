"""The game: sample a table, release it, attack the release, score the guesses and bound them.

- ``play``: lets attacks play rounds; start here
- ``game``, ``attack_spec``: what is played and who plays, checked before anything is drawn
- ``round``: a game with its table drawn and released
- ``setting``, ``options``: the axes that make two games different
- ``result``, ``rows``: the schema of result rows, and rows without a score
- ``row_ceilings``: what the bounds say of a row
- ``reliability``: how often guesses are right, by the attack's own scores
- ``advantage``: the attack played again in a world without the target
- ``attacker_prior``: attackers who believe another prior
- ``random_streams``: seeds named by what they are for
"""
