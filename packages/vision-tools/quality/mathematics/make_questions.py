"""Makes questions about formulas, with answers by SymPy.

    python make_questions.py > questions.json

Needs sympy 1.14. An answer is `roots`, all real solutions; `solutions`, one record for each; `number`;
`samples`, pairs [x, value] of a function, up to a constant where `isPrimitive`; or `holds`, pairs [x,
whether the inequality is true there]. A question without any of them has no answer.
"""

import json
import random
import sys

import sympy as sp

x, y, z = sp.symbols("x y z", real=True)
AT = (0.35, 0.8, 1.25, 1.9, 2.6)
DRAW = random.Random(7)
MADE = []


def whole(low, high):
    """A whole number other than 0."""
    return DRAW.choice([value for value in range(low, high + 1) if value != 0])


def plain(expression):
    return str(expression).replace("**", "^").replace("log", "ln")


def ask(kind, question, **answer):
    MADE.append({"kind": kind, "question": question, **answer})


def real_roots(expression):
    solved = sp.solveset(expression, x, sp.S.Reals)
    return sorted(float(root) for root in solved)


def samples(expression):
    return [[at, float(expression.subs(x, at))] for at in AT]


def linear():
    words = ["Solve {} for x.", "Solve the equation {}.", "Find x if {}.", "What is x when {}?"]
    for index in range(8):
        left = whole(2, 9) * x + whole(-12, 12)
        right = whole(-6, -1) * x + whole(-20, 20) if index % 2 else sp.Integer(whole(-40, 40))
        if index > 5:
            left = left / whole(2, 5) + whole(1, 4)
        question = words[index % 4].format(f"{plain(left)} = {plain(right)}")
        ask("linear", question, roots=real_roots(left - right))


def quadratic():
    words = ["Solve {} = 0.", "Find all real solutions of {} = 0.", "Solve {} = 0 for x."]
    for index in range(10):
        if index < 5:
            form = sp.expand(whole(1, 3) * (x - whole(-7, 7)) * (x - whole(-7, 7)))
        else:
            form = whole(1, 4) * x**2 + whole(-9, 9) * x + whole(-9, 9)
        ask("quadratic", words[index % 3].format(plain(form)), roots=real_roots(form))


def systems():
    for index in range(6):
        p, q = whole(-6, 6), whole(-6, 6)
        a, b, c, d = whole(1, 5), whole(-5, 5), whole(-5, 5), whole(1, 5)
        if a * d == b * c:
            d += 1
        lines = [(a * x + b * y, a * p + b * q), (c * x + d * y, c * p + d * q)]
        text = [f"{plain(left)} = {right}" for left, right in lines]
        words = ["Solve the system {}, {}.", "Solve {} and {}.", "Find x and y: {}; {}"][index % 3]
        ask("system", words.format(*text), solutions=[{"x": p, "y": q}])
    three = [x + y + z - 6, 2 * x - y + z - 3, x + 2 * y - z - 2]
    found = sp.solve(three, [x, y, z], dict=True)[0]
    text = "x + y + z = 6, 2x - y + z = 3, x + 2y - z = 2"
    exact = {str(letter): float(value) for letter, value in found.items()}
    ask("system", f"Solve the system of equations: {text}.", solutions=[exact])
    for circle, line in ((x**2 + y**2 - 25, y - x - 1), (x * y - 12, x + y - 7)):
        found = sp.solve([circle, line], [x, y], dict=True)
        both = [{"x": float(one[x]), "y": float(one[y])} for one in found]
        text = {0: "x^2 + y^2 = 25, y = x + 1", 1: "xy = 12, x + y = 7"}[int(circle.has(x * y))]
        ask("system", f"Solve the system {text}.", solutions=both)


def calculus():
    forms = [x**3 * sp.sin(x), sp.exp(2 * x) / x, sp.log(x**2 + 1), sp.sqrt(3 * x + 1)]
    forms += [(2 * x + 1) ** 5, sp.cos(x) ** 2]
    for index, form in enumerate(forms):
        words = ["Find the derivative of {}.", "Differentiate {} with respect to x."][index % 2]
        ask("calculus", words.format(plain(form)), samples=samples(sp.diff(form, x)))
    forms = [x * sp.exp(x), 1 / (x**2 + 1), x**2 * sp.cos(x), 3 * x**2 - 4 * x + 5, sp.log(x)]
    for index, form in enumerate(forms):
        words = ["Find the integral of {}.", "Integrate {} with respect to x."][index % 2]
        primitive = samples(sp.integrate(form, x))
        ask("calculus", words.format(plain(form)), samples=primitive, isPrimitive=True)
    for form, low, high in ((x**2 + 1, 0, 3), (sp.sin(x), 0, sp.pi), (1 / x, 1, 4)):
        value = float(sp.integrate(form, (x, low, high)))
        ask("calculus", f"Find the integral of {plain(form)} from {low} to {high}.", number=value)
    for form, to in ((sp.sin(3 * x) / x, 0), ((x**2 - 9) / (x - 3), 3), ((2 * x**2 + x) / (x**2 - 5), sp.oo)):
        end = "infinity" if to == sp.oo else to
        value = float(sp.limit(form, x, to))
        ask("calculus", f"Find the limit of {plain(form)} as x approaches {end}.", number=value)


def inequalities():
    for index in range(8):
        if index < 3:
            left = whole(-5, 5) * x + whole(-9, 9)
        elif index < 6:
            left = sp.expand((x - whole(-5, 5)) * (x - whole(-5, 5)))
        else:
            left = (x - whole(1, 5)) / (x + whole(1, 5))
        sign, true = [("<", sp.Lt), (">", sp.Gt), ("<=", sp.Le), (">=", sp.Ge)][index % 4]
        right = whole(-8, 8) if index < 3 else 0
        places = [round(-8.15 + 0.7 * step, 2) for step in range(24)]
        holds = [[at, bool(true(left.subs(x, at), right))] for at in places]
        ask("inequality", f"Solve {plain(left)} {sign} {right}.", holds=holds)


def rearranging():
    for index in range(3):
        form = (x + whole(-6, 6)) * (x + whole(-6, 6)) * whole(1, 3)
        words = ["Expand {}.", "Simplify {}.", "Expand the expression {}."][index]
        ask("rearranging", words.format(plain(form)), samples=samples(form))
    for form in (x**2 - 16, 2 * x**2 + 7 * x + 3):
        ask("rearranging", f"Factor {plain(form)}.", samples=samples(form))
    ask("rearranging", "What is 3/4 + 5/6 - 1/3?", number=float(sp.Rational(5, 4)))


def stories():
    """Equations in words, built from their answers."""
    n = whole(5, 20)
    ask("word problem", f"Anna is {n} years old. Her brother is 4 years younger. How old is he?", number=n - 4)
    ask("word problem", f"A number plus {n} is {3 * n}. What is the number?", number=2 * n)
    ask("word problem", f"The sum of two consecutive integers is {2 * n + 1}. What is the smaller one?", number=n)
    ask("word problem", f"A shirt costs ${4 * n} after a discount of 20%. What did it cost before?", number=5 * n)
    ask("word problem", f"A car drives {60 * n} miles in {n} hours. What is its speed?", number=60)
    ask("word problem", f"Tickets cost $8. How many can Ben buy for ${8 * n}?", number=n)
    ask("word problem", f"A rectangle is {n} cm long and has a perimeter of {2 * n + 14} cm. How wide is it?", number=7)
    ask("word problem", "Two pipes fill a tank in 3 and 6 hours. How long do they take together?", number=2)


def nonsense():
    ask("no answer", "Find the value of k in the table.")
    ask("no answer", "What is the capital of France?")
    ask("no answer", "Why is the graph steeper on the left?")
    ask("no answer", "Solve the equation on the next page.")
    ask("no answer", "Find the limit of sin(1/x) as x approaches 0.")
    ask("no answer", "Integrate exp(x^2)*sin(1/x)/ln(x).")


for make in (linear, quadratic, systems, calculus, inequalities, rearranging, stories, nonsense):
    make()
sys.stdout.write("[\n" + ",\n".join(json.dumps(one) for one in MADE) + "\n]\n")
