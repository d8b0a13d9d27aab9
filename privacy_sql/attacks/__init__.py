"""Attacks: several releases and a population in, who is exposed out."""
