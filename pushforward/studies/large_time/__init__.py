"""Large-time asymptotics in deep learning."""
