"""Choose the field: optimal control of linear, PDE and neural dynamics."""
