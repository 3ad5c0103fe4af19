"""What every leaderboard checks of itself.

- ``self_check``: whether expected scores agree with the successes as drawn
- ``ahead_of_best``: whether an attack gets more than the best possible
- ``alarms``: what fails these, or is above its ceilings, in words
"""
