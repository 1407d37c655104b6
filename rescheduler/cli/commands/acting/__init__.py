"""Commands that change a live cluster, or tell and mend what such commands wrote down."""
