"""A plan as one self-contained page that needs no network and no script: start reading at ``plan_page``.

Each module says what is shown; the template of the same name in ``templates/plan/`` says how.
"""

from __future__ import annotations

from rescheduler.report.html.plan_page import plan_page as plan_page
