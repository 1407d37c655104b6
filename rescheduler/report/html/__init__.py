"""A plan as one self-contained page that needs no network and no script: start reading at ``plan_page``."""

from __future__ import annotations

from rescheduler.report.html.markup import page as page
from rescheduler.report.html.plan_page import plan_page as plan_page
