#!/usr/bin/env python3
"""The synthetic data of the user guide: writes the CSV files beside it, always the same bytes."""

import csv
import math
import random
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent


def write(name: str, header: list[str], rows: list[list[object]]) -> None:
    with open(HERE / name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def deliveries() -> None:
    """Parcels of a courier. One in six doors stays shut at first, more of them in the centre, and then it takes half an
    hour more."""
    draw = random.Random(1)
    header = ["ordered", "depot", "distance_km", "parcels", "rain", "minutes"]
    rows = []
    for number in range(740):
        day = datetime(2026, 1, 5) + timedelta(days=number // 10, minutes=draw.randrange(8 * 60, 19 * 60))
        depot = draw.choice(["centre", "centre", "harbour", "west"])
        distance, parcels = round(1 + 14 * draw.random() ** 2, 1), 1 + int(4 * draw.random() ** 2)
        rain = draw.choices(["yes", "no", ""], [3, 6, 1])[0]
        rush = 1.5 if day.hour in (8, 9, 17, 18) and day.weekday() < 5 else 1.0
        minutes = 6 + rush * 2.1 * distance * (1.2 if rain == "yes" else 1.0) + 2 * parcels
        minutes += 30 * (draw.random() < (0.25 if depot == "centre" else 0.1))
        minutes *= math.exp(0.12 * draw.gauss(0, 1))
        rows.append([day.strftime("%Y-%m-%d %H:%M"), depot, distance, parcels, rain, round(minutes, 1)])
    write("deliveries.csv", header, rows[:500])
    write("later.csv", header, rows[-200:])
    write("today.csv", header[:-1], [row[:-1] for row in rows[500:506]])


def visits() -> None:
    """People of a health insurance: visits to a doctor are counts, costs have zeros and a cap, and attendance is a
    share."""
    draw = random.Random(2)
    rows = []
    for _ in range(500):
        age, smoker = draw.randrange(18, 90), draw.choices(["no", "yes"], [4, 1])[0]
        need = 0.02 * (age - 18) + 0.6 * (smoker == "yes") + draw.gauss(0, 0.3)
        mean, count = math.exp(need), 0
        time = draw.expovariate(1)
        while time < mean:
            time, count = time + draw.expovariate(1), count + 1
        cost = min(1000.0, round(40 * sum(math.exp(draw.gauss(0, 0.9)) for _ in range(count)), 2))
        attended = 1 / (1 + math.exp(-2 + 0.5 * need + draw.gauss(0, 0.5)))
        rows.append([age, smoker, count, cost, round(attended, 3)])
    write("visits.csv", ["age", "smoker", "visits", "cost", "attended"], rows)


def pumps() -> None:
    """Hours that pumps have run: until they failed, or until today."""
    draw = random.Random(3)
    rows = []
    for _ in range(400):
        load, site = round(0.3 + 0.7 * draw.random(), 2), draw.choice(["north", "south"])
        life = 3000 * math.exp(-1.5 * (load - 0.65) + 0.3 * (site == "north")) * draw.weibullvariate(1, 1.6)
        watched = draw.uniform(500, 6000)
        rows.append([load, site, round(min(life, watched)), int(watched < life)])
    write("pumps.csv", ["load", "site", "hours", "running"], rows)


def sales() -> None:
    """Loaves that two bakeries sold on each day of half a year: weekdays differ, and weeks go up and down."""
    draw = random.Random(4)
    week = [1.0, 0.95, 1.0, 1.05, 1.2, 1.6, 0.7]
    rows = []
    for shop, size in [("bridge", 180), ("mill", 90)]:
        level = 0.0
        for day in range(182):
            date = datetime(2026, 1, 5) + timedelta(days=day)
            level = 0.8 * level + draw.gauss(0, 0.05)
            rows.append(
                [
                    shop,
                    date.strftime("%Y-%m-%d"),
                    round(size * week[date.weekday()] * math.exp(level + draw.gauss(0, 0.06))),
                ]
            )
    write("sales.csv", ["shop", "day", "loaves"], rows)


deliveries()
visits()
pumps()
sales()
