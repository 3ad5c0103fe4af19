"""Bounds read backwards: the largest budget, or the least noise, that keeps a risk in check.

A *risk* turns a guarantee into a number, a *family* turns one parameter into a guarantee; the risk
must not decrease as the parameter grows. The answer is bracketed and approached from the safe
side: the parameter returned keeps the threshold, by the bound it was calibrated with. Where no
parameter does, or every one does, that is what the answer says.

- `solve`: families, and `calibrate`. Read this first.
- `measures`: success, advantages, and the ceiling on a share of targets.
- `reconstruction_advantage`, `singling_out`: two more measures.
- `named`: all measures by name; `report` and `mechanism` answer for a name, ready for JSON.
- `queries`: how many queries fit, and one budget in closed form.
"""
