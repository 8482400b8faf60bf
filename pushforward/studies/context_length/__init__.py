"""How beta must grow with the context, for attention to choose."""
