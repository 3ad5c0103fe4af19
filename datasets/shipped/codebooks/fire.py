"""DataSF's Fire Department Calls for Service: its ten categorical columns."""

from __future__ import annotations

from reconbench.datasets.domain import Attribute, Domain

MISSING = "NA"  # FIRE's label of an empty cell, always the last one


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRE = Domain(
    (
        Attribute(
            "Call Type",
            (
                "Administrative",
                "Aircraft Emergency",
                "Alarms",
                "Assist Police",
                "Citizen Assist / Service Call",
                "Confined Space / Structure Collapse",
                "Electrical Hazard",
                "Elevator / Escalator Rescue",
                "Explosion",
                "Extrication / Entrapped (Machinery, Vehicle)",
                "Fuel Spill",
                "Gas Leak (Natural and LP Gases)",
                "HazMat",
                "High Angle Rescue",
                "Industrial Accidents",
                "Lightning Strike (Investigation)",
                "Marine Fire",
                "Medical Incident",
                "Mutual Aid / Assist Outside Agency",
                "Odor (Strange / Unknown)",
                "Oil Spill",
                "Other",
                "Outside Fire",
                "Smoke Investigation (Outside)",
                "Structure Fire",
                "Suspicious Package",
                "Traffic Collision",
                "Train / Rail Fire",
                "Train / Rail Incident",
                "Vehicle Fire",
                "Water Rescue",
                "Watercraft in Distress",
            ),
        ),
        Attribute(
            "Call Final Disposition",
            (
                "Against Medical Advice",
                "CHP",
                "Cancelled",
                "Code 2 Transport",
                "Code 3 Transport",
                "Duplicate",
                "Fire",
                "Gone on Arrival",
                "Medical Examiner",
                "Multi-casualty Incident",
                "No Merit",
                "Other",
                "Patient Declined Transport",
                "SFPD",
                "Unable to Locate",
            ),
        ),
        Attribute(
            "City",
            (
                "Brisbane",
                "Daly City",
                "Fort Mason",
                "Hunters Point",
                "Presidio",
                "San Francisco",
                "Treasure Isla",
                "Yerba Buena",
                MISSING,
            ),
        ),
        # Ordinal as in Swanberg 2025, section 6.4, which scores an L1 error on its codes.
        Attribute(
            "Zipcode of Incident",
            (
                *_listed("94102 94103 94104 94105 94107 94108 94109 94110 94111 94112 94114 94115"),
                *_listed("94116 94117 94118 94121 94122 94123 94124 94127 94129 94130 94131 94132"),
                *_listed("94133 94134 94158"),
                MISSING,
            ),
            ordinal=True,
        ),
        Attribute("Battalion", _listed("B01 B02 B03 B04 B05 B06 B07 B08 B09 B10 B99")),
        Attribute(
            "Station Area",
            (
                *_listed("01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24"),
                *_listed("25 26 28 29 31 32 33 34 35 36 37 38 39 40 41 42 43 44 47 48 51"),
                MISSING,
            ),
        ),
        Attribute("Priority", _listed("1 2 3 A B C E I")),
        Attribute("ALS Unit", ("false", "true")),
        Attribute(
            "Call Type Group",
            (
                "Alarm",
                "Fire",
                "Non Life-threatening",
                "Potentially Life-Threatening",
                MISSING,
            ),
        ),
        Attribute("Number of Alarms", _listed("1 2 3 4 5"), ordinal=True),
    )
)
