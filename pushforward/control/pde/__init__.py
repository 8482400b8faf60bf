"""Optimal control of heat, wave and transport equations over long horizons."""
