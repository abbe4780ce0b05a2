"""What `occamkit bench black-box` puts side by side: anything that learns to tell a target from rows.

contender  what one must have, and the hook by which other packs bring theirs
builtin    occamkit, ridge regression, XGBoost and pyoperon
"""
