"""The page about one row: ``page`` lays it out, ``changes`` handles what users do, ``answers`` what the page shows.

``editors`` are the inputs for the values of the row, ``lookalikes`` the training rows listed below the rule, and
``stability`` the job that grows the forest again.
"""
