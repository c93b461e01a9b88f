"""What the interactive page says, in each language; words in braces are filled in by its script."""

from __future__ import annotations

from typing import Any

_ENGLISH: dict[str, Any] = {
    "title": "Ensembles you can move",
    "lead": "Every change retrains the ensemble in this page: small trees on two features. "
    "Nothing is loaded or sent.",
    "settings": "Settings",
    "problem": "Problem",
    "problems": {
        "moons": "two moons",
        "circle": "circle in a square",
        "xor": "XOR",
        "threenorm": "threenorm",
    },
    "method": "Method",
    "methods": {
        "bagging": "bagging",
        "forest": "random forest",
        "switching": "class-switching",
        "adaboost": "AdaBoost",
    },
    "samples": "Training samples",
    "noise": "Wrong labels",
    "members": "Members",
    "depth": "Tree depth",
    "no_limit": "no limit",
    "rates": {
        "bagging": "Bootstrap sample",
        "forest": "Bootstrap sample",
        "switching": "Switched labels",
        "adaboost": "Learning rate",
    },
    "redraw": "New samples",
    "reset": "Reset",
    "order": "Order of members",
    "orders": {"trained": "as trained", "ordered": "margin distance"},
    "first": "Voting members",
    "light": "Light",
    "dark": "Dark",
    "map": "Decision map",
    "map_note": "Colour is the share of the votes; the line is the best possible border. Samples "
    "with a ring have a wrong label. Click, or press the arrow keys, to move the cross.",
    "map_keys": "Decision map. The arrow keys move the cross whose votes are shown.",
    "classes": ["blue, squares", "orange, circles"],
    "curves": "Error by the number of members",
    "curves_note": "As trained (random order, except for AdaBoost) and by margin distance, which "
    "sees the training samples only. Click to choose how many members vote.",
    "margins": "Margins",
    "margins_note": "Share of the samples with at most this margin: the share of the votes for "
    "their class minus that against it. Left of 0 they are misclassified.",
    "votes": "Votes at the cross",
    "votes_note": "One mark per member, in the chosen order; a tall mark votes for orange. "
    "Members that do not vote are pale.",
    "votes_text": "At ({x}, {y}), {n} of the {k} voting members choose orange; the ensemble "
    "decides {label}.",
    "weighted": "Votes are weighted: orange has {share} of the weight.",
    "labels": ["blue", "orange"],
    "train": "training",
    "test": "test",
    "error": "error",
    "axis_members": "members",
    "axis_margin": "margin",
    "axis_share": "samples",
    "summary": "The first {k} of {T} members: test error {test}, training error {train}. "
    "One member: {one}. All members: {all}. "
    "Lowest test error by margin distance: {bestError} with {best}.",
    "ended": {
        "perfect": "AdaBoost ended with {T}: the last tree makes no training error. Lower the "
        "depth to leave it something to learn.",
        "chance": "AdaBoost ended with {T}: the next tree is no better than chance on the "
        "reweighted samples. Raise the depth.",
    },
    "trained_in": "Trained and drawn in {ms} ms.",
    "numbers": "Numbers",
    "experiments": "Five experiments",
    "try": "Set it up",
    "stories": [
        ["One tree, then many",
         "Watch the map while you move the members from 1 to 101. One tree has straight, ragged "
         "borders; the vote rounds them. Draw new samples: which map changes more?",
         {"problem": "circle", "method": "bagging", "samples": 300, "noise": 0, "members": 1}],
        ["Weak trees, strong vote",
         "Three labels in ten are switched for each member, so each errs often. Move the rate "
         "towards a half: how many members does the vote need now?",
         {"problem": "circle", "method": "switching", "samples": 300, "noise": 0, "members": 200,
          "rate": 0.3}],
        ["Wrong labels",
         "A fifth of the labels is wrong. Compare AdaBoost with bagging: whose training error is "
         "lower, and whose test error?",
         {"problem": "moons", "method": "adaboost", "samples": 300, "noise": 0.2, "members": 100,
          "depth": 4}],
        ["Stumps cannot learn XOR",
         "No sum of stumps, one feature each, separates these classes. Raise the depth to 2, and "
         "look at the margins.",
         {"problem": "xor", "method": "adaboost", "samples": 300, "noise": 0, "members": 100,
          "depth": 1}],
        ["Fewer members",
         "The trees are shallow and the members many. In margin-distance order the error "
         "reaches its minimum with only some of them. Is the best number on the training samples "
         "also the best on test samples?",
         {"problem": "threenorm", "method": "bagging", "samples": 300, "noise": 0.1,
          "members": 100, "depth": 2}],
    ],
    "noscript": "This page needs scripts: turn them on in your browser.",
}  # fmt: skip

_SPANISH: dict[str, Any] = {
    "title": "Conjuntos que se pueden tocar",
    "lead": "Cada cambio vuelve a entrenar el conjunto en esta misma página: árboles pequeños "
    "sobre dos características. No se carga ni se envía nada.",
    "settings": "Ajustes",
    "problem": "Problema",
    "problems": {
        "moons": "dos lunas",
        "circle": "círculo en un cuadrado",
        "xor": "XOR",
        "threenorm": "threenorm",
    },
    "method": "Método",
    "methods": {
        "bagging": "bagging",
        "forest": "bosque aleatorio",
        "switching": "class-switching",
        "adaboost": "AdaBoost",
    },
    "samples": "Ejemplos",
    "noise": "Etiquetas erróneas",
    "members": "Miembros",
    "depth": "Profundidad",
    "no_limit": "libre",
    "rates": {
        "bagging": "Muestra bootstrap",
        "forest": "Muestra bootstrap",
        "switching": "Etiquetas alteradas",
        "adaboost": "Tasa de aprendizaje",
    },
    "redraw": "Otros ejemplos",
    "reset": "Restablecer",
    "order": "Orden",
    "orders": {"trained": "entrenamiento", "ordered": "distancia de márgenes"},
    "first": "Votan los primeros",
    "light": "Claro",
    "dark": "Oscuro",
    "map": "Mapa de decisión",
    "map_note": "El color indica el reparto de los votos; la línea es la mejor frontera posible. "
    "Los ejemplos rodeados tienen una etiqueta errónea. La cruz se mueve con un clic o con las "
    "flechas del teclado.",
    "map_keys": "Mapa de decisión. Las flechas mueven la cruz cuyos votos se muestran.",
    "classes": ["azul, cuadrados", "naranja, círculos"],
    "curves": "Error según el número de miembros",
    "curves_note": "En el orden de entrenamiento (aleatorio, salvo en AdaBoost) y por distancia "
    "de márgenes, que solo usa los ejemplos de entrenamiento. Un clic elige cuántos votan.",
    "margins": "Márgenes",
    "margins_note": "Proporción de ejemplos con un margen no mayor que el indicado: votos a favor "
    "de su clase menos votos en contra. A la izquierda de 0 están mal clasificados.",
    "votes": "Votos en la cruz",
    "votes_note": "Una marca por miembro, en el orden elegido; las marcas altas votan "
    "naranja. Los que no votan aparecen atenuados.",
    "votes_text": "En ({x}, {y}), {n} de los {k} miembros que votan eligen naranja; el "
    "conjunto decide {label}.",
    "weighted": "El voto es ponderado: naranja reúne el {share} del peso.",
    "labels": ["azul", "naranja"],
    "train": "entrenamiento",
    "test": "test",
    "error": "error",
    "axis_members": "miembros",
    "axis_margin": "margen",
    "axis_share": "ejemplos",
    "summary": "Los primeros {k} de {T} miembros: error de test {test}, error de "
    "entrenamiento {train}. Uno solo: {one}. Todos: {all}. "
    "Menor error de test por distancia de márgenes: {bestError} con {best}.",
    "ended": {
        "perfect": "AdaBoost terminó con {T}: el último árbol no comete errores de "
        "entrenamiento. Con menos profundidad tendrá trabajo.",
        "chance": "AdaBoost terminó con {T}: el siguiente árbol no mejora al azar con los "
        "ejemplos reponderados. Aumente la profundidad.",
    },
    "trained_in": "Entrenado y dibujado en {ms} ms.",
    "numbers": "Cifras",
    "experiments": "Cinco experimentos",
    "try": "Preparar",
    "stories": [
        ["Un árbol y después muchos",
         "Observe el mapa mientras aumenta el número de miembros de 1 a 101. Un solo árbol "
         "tiene fronteras rectas y dentadas; el voto las redondea. Pida otros ejemplos: ¿qué "
         "mapa cambia más?",
         _ENGLISH["stories"][0][2]],
        ["Árboles débiles, voto fuerte",
         "Para cada miembro se alteran tres de cada diez etiquetas, así que todos fallan a "
         "menudo. Acerque la tasa a un medio: ¿cuántos miembros necesita ahora el voto?",
         _ENGLISH["stories"][1][2]],
        ["Etiquetas erróneas",
         "Una quinta parte de las etiquetas es errónea. Compare AdaBoost con bagging: ¿cuál tiene "
         "menos error de entrenamiento?, ¿y de test?",
         _ENGLISH["stories"][2][2]],
        ["Los tocones no aprenden XOR",
         "Ninguna suma de tocones, de un atributo cada uno, separa estas clases. Suba la "
         "profundidad a 2 y mire los márgenes.",
         _ENGLISH["stories"][3][2]],
        ["Menos miembros",
         "Los árboles son poco profundos y hay muchos. Ordenados por distancia de márgenes, el "
         "error alcanza su mínimo con una parte de ellos. ¿Coincide el mejor número en "
         "entrenamiento con el mejor en test?",
         _ENGLISH["stories"][4][2]],
    ],
    "noscript": "Esta página necesita scripts: actívelos en el navegador.",
}  # fmt: skip

TEXTS = {"en": _ENGLISH, "es": _SPANISH}
