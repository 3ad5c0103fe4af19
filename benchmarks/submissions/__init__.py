"""Entries that other people send: one file with an attack, its rows and who stands behind it.

- ``documents``: read JSON files that anybody may have written
- ``entry``: what an entry holds, and the checks when it is read
- ``submit``: play a suite with an attack and make its entry
- ``verify``: replay a part of an entry, play sealed games, and say what comes of it
- ``cheat_test``: whether public results are better than sealed ones beyond chance
- ``verdict``: what was found, as a document that the site shows
"""
