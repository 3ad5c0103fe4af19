"""Trained models as releases.

- ``algorithms``: records, networks, SGD and DP-SGD; read this first
- ``kernels``: the compiled training loops, many models per call
"""
