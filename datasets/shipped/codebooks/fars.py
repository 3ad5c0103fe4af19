"""Fatality Analysis Reporting System, 2001: 18 of the 30 columns on people in fatal crashes.

Names are the file's, in shorter form; labels are the file's with blanks for underscores and two
misspellings corrected. Left out: the path of an ejection, where a pedestrian was, how alcohol and
drugs were determined, the second and third drug test, test results of drugs, and the three related
factors, each of which says "not applicable" for nine people of ten, or repeats another column.

Brackets: ages in tens from 25, with the usual limits of children and young drivers below; blood
alcohol in hundredths of a percent at .01, .08 (the legal limit), .15 and .25. Results 95 to 99 are
not measurements but codes of the system's manual.
"""

from __future__ import annotations

from reconbench.datasets.shipped.codebooks.columns import (
    Brackets,
    Codes,
    build_domain,
    name_brackets,
)

_AGES = (0, 5, 16, 18, 21, 25, 35, 45, 55, 65, 75, 99)

_STATES = (
    "Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware District_of_Columbia "
    "Florida Georgia Hawaii Idaho Illinois Indiana Iowa Kansas Kentucky Louisiana Maine Maryland "
    "Massachusetts Michigan Minnesota Mississippi Missouri Montana Nebraska Nevada New_Hampshire "
    "New_Jersey New_Mexico New_York North_Carolina North_Dakota Ohio Oklahoma Oregon Pennsylvania "
    "Puerto_Rico Rhode_Island South_Carolina South_Dakota Tennessee Texas Utah Vermont Virginia "
    "Washington West_Virginia Wisconsin Wyoming"
)

_NOT_FATAL = "Not_a_Fatality_(Not_Applicable)"


def _listed(text: str) -> Codes:
    return Codes(
        {
            value: value.replace("_", " ")
            .replace("Incapaciting", "Incapacitating")
            .replace("Nonincapaciting", "Nonincapacitating")
            .replace("Air Bad Available-", "Air Bag Available - ")
            for value in text.split()
        }
    )


FARS_COLUMNS: dict[str, Codes | Brackets] = {
    "STATE": _listed(_STATES),
    "AGE": Brackets(
        _AGES, name_brackets(*_AGES, last="75 or older"), {"99": "Unknown"}, special_first=False
    ),
    "SEX": _listed("Male Female Unknown"),
    "PERSON_TYPE": _listed(
        "Driver Passenger_of_a_Motor_Vehicle_in_Transport "
        "Occupant_of_a_Motor_Vehicle_Not_in_Transport "
        "Occupant_of_a_Non-Motor_Vehicle_Transport_Device Pedestrian Bicyclist Other_Cyclist "
        "Other_Pedestrian Unknown_Occupant_Type_in_a_Motor_Vehicle_in_Transport "
        "Unknown_Type_of_Non-Motorist Unknown"
    ),
    "SEATING_POSITION": _listed(
        "Non-Motorist Front_Seat_-_Left_Side_(Drivers_Side) Front_Seat_-_Middle "
        "Front_Seat_-_Right_Side Front_Seat_-_Other Front_Seat_-_Unknown Second_Seat_-_Left_Side "
        "Second_Seat_-_Middle Second_Seat_-_Right_Side Second_Seat_-_Other Second_Seat_-_Unknown "
        "Third_Seat_-_Left_Side_(Drivers_Side) Third_Seat_-_Middle Third_Seat_-_Right_Side "
        "Third_Seat_-_Other Third_Seat_-_Unknown Fourth_Seat_-_Left_Side Fourth_Seat_-_Middle "
        "Fourth_Seat_-_Right_Side Fourth_Seat_-_Other Fourth_Seat_-_Unknown "
        "Sleeper_Section_of_Cab_(Truck) Other_Passenger_in_enclosed_passenger_or_cargo_area "
        "Other_Passenger_in_unenclosed_passenger_or_cargo_area "
        "Other_Passenger_in_passenger_or_cargo_area_(unknown_whether_or_not_enclosed) "
        "Trailing_Unit Riding_on_Vehicle_Exterior Unknown"
    ),
    "RESTRAINT": _listed(
        "None_Used/Not_Applicable Shoulder_Belt Lap_Belt Lap_and_Shoulder_Belt Child_Safety_Seat "
        "Motorcycle_Helmet Bicycle_Helmet Restraint_Used_-_Type_Unknown "
        "Safety_Belt_Used_Improperly Child_Safety_Seat_Used_Improperly Helmets_Used_Improperly "
        "Unknown"
    ),
    "AIR_BAG": _listed(
        "Non-Motorist Deployed_Air_Bag_from_Front Deployed_Air_Bag_from_Side "
        "Deployed_Air_Bag_Other_Direction Deployed_Air_Bag_Multiple_Directions "
        "Deployed_Air_Bag_Direction_Unknown Air_Bag_Available_but_Not_Deployed_for_this_Seat "
        "Air_Bag_Available_and_Switched_Off Air_Bad_Available-Deployment_Not_Known_for_this_Seat "
        "Air_Bag_Not_Available_for_this_Seat Air_Bag_Previously_Deployed_and_not_Replaced "
        "Air_Bag_Disabled_or_Removed Unknown_(If_Airbag_Available)"
    ),
    "EJECTION": _listed("Not_Ejected Totally_Ejected Partially_Ejected Unknown"),
    "EXTRICATION": _listed("Not_Extricated Extricated Unknown"),
    "POLICE_ALCOHOL": _listed(
        "No_(Alcohol_Not_Involved) Yes_(Alcohol_Involved) Not_reported Unknown_(Police_Reported)"
    ),
    "ALCOHOL_TEST": _listed(
        "Not_Tested_for_Alcohol Whole_Blood Breath_BAC Urine Vitreous Blood_Plasma/Serum "
        "Blood_Clot Liver Other_Test_Type Unknown(Not_Reported_Since_2001)"
    ),
    "ALCOHOL_RESULT": Brackets(
        (0, 1, 8, 15, 25, 94),
        ("None", ".01 to .07", ".08 to .14", ".15 to .24", ".25 or more"),
        {
            "95": "Test refused",
            "96": "Not tested",
            "97": "Tested, result unknown",
            "98": "Unknown",
            "99": "Unknown",
        },
        special_first=False,
    ),
    "POLICE_DRUGS": _listed("No_Drugs Drugs_Involved Not_Reported Reported_Unknown"),
    "DRUG_TEST": _listed(
        "Not_Tested_for_Drugs Blood_Test Urine_Test Both:_Blood_and_Urine_(Since_1993) "
        "Unknown_Test_Type Other_Type_Test Unknown_if_Tested_for_Drugs"
    ),
    "HISPANIC_ORIGIN": _listed(
        f"{_NOT_FATAL} Mexican Puerto_Rican Cuban Central_or_South_American European_Spanish "
        "Hispanic_-_Origin_Not_Specified_or_Other_Origin Non-Hispanic Unknown"
    ),
    "TAKEN_TO_HOSPITAL": _listed("No Yes Unknown"),
    "RACE": _listed(
        f"{_NOT_FATAL} White Black American_Indian_(_Includes_Aleuts_and_Eskimos) Chinese Japanese "
        "Hawaiian_(Includes_part-Hawaiian) Filipino Asian_Indian "
        "Other_Indian_(Includes_South_and_Central_America) Korean Samoan Vietnamese Guamanian "
        "Other_Asian_or_Pacific_Islander "
        "Asian_or_Pacific_Islander_No_Specific_(Individual)_Race "
        "Multiple_Races_(Individual_races_not_specified;_ex._mixed) All_Other_Races Unknown"
    ),
    "INJURY_SEVERITY": _listed(
        "No_Injury Possible_Injury Nonincapaciting_Evident_Injury Incapaciting_Injury Fatal_Injury "
        "Injured_Severity_Unknown Died_Prior_to_Accident Unknown"
    ),
}

FARS = build_domain(FARS_COLUMNS, ordinal=())

# The published file's name of each column.
FARS_NAMES: dict[str, str] = {
    "STATE": "CASE_STATE",
    "AGE": "AGE",
    "SEX": "SEX",
    "PERSON_TYPE": "PERSON_TYPE",
    "SEATING_POSITION": "SEATING_POSITION",
    "RESTRAINT": "RESTRAINT_SYSTEM-USE",
    "AIR_BAG": "AIR_BAG_AVAILABILITY/DEPLOYMENT",
    "EJECTION": "EJECTION",
    "EXTRICATION": "EXTRICATION",
    "POLICE_ALCOHOL": "POLICE_REPORTED_ALCOHOL_INVOLVEMENT",
    "ALCOHOL_TEST": "ALCOHOL_TEST_TYPE",
    "ALCOHOL_RESULT": "ALCOHOL_TEST_RESULT",
    "POLICE_DRUGS": "POLICE-REPORTED_DRUG_INVOLVEMENT",
    "DRUG_TEST": "DRUG_TEST_TYPE_(1_of_3)",
    "HISPANIC_ORIGIN": "HISPANIC_ORIGIN",
    "TAKEN_TO_HOSPITAL": "TAKEN_TO_HOSPITAL",
    "RACE": "RACE",
    "INJURY_SEVERITY": "INJURY_SEVERITY",
}
