"""Turnpike in optimal control of PDEs, ResNets, and beyond."""
