#!/usr/bin/env python3
"""Writes jinja_reference.json: what transformers renders for small chat templates.

    pip install transformers==5.24.0 jinja2==3.1.6
    python tests/data/text/make_reference.py

Each case has a template, the variables it sees, and what transformers' own Jinja environment makes
of them: the text and the {% generation %} spans (in UTF-8 bytes), or the fact that it refuses.
Every template tries one thing that chat templates do and that engines are known to differ in.
"""
import json
import pathlib
import sys

import transformers
from transformers.utils import chat_template_utils as chat

HERE = pathlib.Path(__file__).parent

CHAT = [
    {"role": "system", "content": "be brief."},
    {"role": "user", "content": "  name a river.\n"},
    {"role": "assistant", "content": "the rhine — «Rhein» \U0001f642"},
]
VALUES = {
    "none": None, "yes": True, "no": False, "one": 1, "minus": -7, "big": 10**16, "half": 0.5, "whole": 1.0,
    "huge": 1e16, "tiny": 1e-5, "text": "it's", "quoted": 'say "hi"', "empty": "", "lines": "a\nb\n\nc",
    "list": [3, 1, 2], "mixed": [1, "two", None, True, 2.0, [], {}], "map": {"b": 1, "a": {"z": [], "y": "ü<&>'"}},
    "words": "alpha beta  gamma", "names": [{"name": "x", "n": 2}, {"name": "y", "n": 1}, {"name": "x", "n": 3}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"default": 1.0, "max": 10**16}}}],
    "control": "tab\there \x01 \x7f \u2028 \\ end",
}

# Expressions, several a line with ";;" between them: each becomes "[{{ expression }}]".
EXPRESSIONS = r"""
none ;; yes ;; no ;; one ;; minus ;; big ;; half ;; whole ;; huge ;; tiny ;; text ;; empty ;; list ;; mixed ;; map ;; names
missing ;; missing is defined ;; one is defined ;; missing is undefined ;; none is none ;; yes is boolean
yes is number ;; yes is integer ;; one is integer ;; half is float ;; one is number ;; text is number
text is string ;; list is string ;; text is sequence ;; list is sequence ;; map is sequence ;; one is sequence
text is iterable ;; list is iterable ;; map is iterable ;; one is iterable ;; map is mapping ;; list is mapping
none is iterable ;; missing is iterable ;; missing is sequence ;; list is not string and list is sequence
one is odd ;; minus is even ;; text is eq("it's") ;; one is divisibleby 1 ;; 5 is lt 6 ;; one is sameas one
text is upper ;; "A" is lower ;; "a" is in ["a"] ;; yes is true ;; one is true ;; no is false ;; one is callable
2 in list ;; "b" in map ;; "t" in text ;; 9 not in list ;; "it" in text ;; one in [1.0] ;; none in list ;; "x" in missing
1 == 1.0 ;; yes == 1 ;; "1" == 1 ;; none == false ;; list == [3, 1, 2] ;; map == {"a": 1} ;; 1 < 2 < 3 ;; not missing
missing == none ;; missing == "" ;; "a" < "b" ;; [1, 2] < [1, 3] ;; one != 2 ;; text != "it's"
one + 1 ;; one / 2 ;; 7 // 2 ;; minus // 2 ;; 7 % 3 ;; minus % 3 ;; 2 ** 10 ;; 7 / 7 ;; whole + one ;; one - half ;; 2 * 3.0
"ab" * 3 ;; [1] + [2] ;; "a" ~ 1 ~ none ~ true ~ 2.5 ;; "a" + "b" ;; -one ;; "a" + 1
"a" ~ missing ~ "b" ;; "a" ~ list ;; missing + "a" ;; none + "a" ;; yes + 1
text if yes else empty ;; text if no ;; empty or "default" ;; none or list ;; yes and text ;; not yes ;; [1, "a"]
{1: 2} ;; {"a": text, "b": quoted} ;; ["a\nb"] ;; ["é", "\u00a0"]
list[0] ;; list[-1] ;; list[1:] ;; list[::-1] ;; list[:2] ;; list[5] ;; text[0] ;; text[-1] ;; text[1:3] ;; text[::-1] ;; text[9]
map.b ;; map["a"] ;; map.a.y ;; map.missing ;; map["missing"] ;; map.get("b") ;; map.get("q") ;; map.get("q", "dflt")
map.keys() | list ;; map.values() | list ;; map.keys() | join(",") ;; map.items() | length
words.split() ;; words.split(" ") ;; words.split(" ", 1) ;; lines.split("\n") ;; lines.splitlines() ;; text.upper()
words.title() ;; words.capitalize() ;; text.startswith("it") ;; text.endswith(("x", "s")) ;; text.find("s") ;; text.find("q")
text.replace("'", "") ;; text.replace("t", "T", 1) ;; "  x ".strip() ;; "xxaxx".strip("x") ;; "xxaxx".lstrip("x")
"xxaxx".rstrip("x") ;; "\n\nx\n".strip("\n") ;; text.count("t") ;; "-".join(["a", "b"]) ;; words.split("beta")[-1].strip()
"abc".isalpha() ;; "12".isdigit() ;; " ".isspace() ;; "Ab".lower() ;; "a,b".split(",")[1] ;; "abc".rfind("c") ;; "12".isnumeric()
"abc".removeprefix("a") ;; "abc".removesuffix("c")
"a-b-c".rsplit("-", 1) ;; "a".join("xyz")
list.count(1) ;; list.append(4) ;; map.pop("b") ;; map.update({"c": 1}) ;; text.format()
"{} and {}".format("a", 1) ;; "{0}{1}{0}".format("a", "b") ;; "{x}".format(x=1) ;; "{:>4}".format("a") ;; "{:.2f}".format(half)
list | length ;; map | length ;; words | length ;; text | upper ;; text | lower ;; words | title ;; words | capitalize ;; list | count
"  x " | trim ;; "xxax" | trim("x") ;; words | replace("a", "o") ;; list | first ;; list | last ;; list | sort ;; list | sum
[] | first ;; [] | last ;; text | first ;; text | last ;; list | min ;; list | max ;; list | reverse | list ;; text | reverse
list | join(", ") ;; mixed | join("|") ;; names | map(attribute="name") | join(",") ;; names | join(",", attribute="n") ;; text | join("-")
names | selectattr("name", "equalto", "x") | list | length ;; names | selectattr("n", ">", 1) | map(attribute="n") | list
names | rejectattr("name", "eq", "x") | map(attribute="n") | list ;; names | sort(attribute="n") | map(attribute="n") | list
names | groupby("name") | length ;; names | map(attribute="name") | unique | list ;; list | select("odd") | list ;; list | reject("odd") | list
names | selectattr("name") | list | length ;; names | map(attribute="q", default="d") | list ;; ["b", "A"] | sort ;; ["b", "A"] | sort(case_sensitive=true)
names | selectattr("q", "defined") | list ;; messages | map(attribute="role") | list ;; ["a", " b "] | map("trim") | list ;; ["a"] | map("upper") | join
lines | indent ;; lines | indent(2, true) ;; text | default("d") ;; missing | default("d") ;; empty | default("d", true)
none | default("d") ;; "3" | int ;; "2.5" | float ;; 3.7 | int ;; 2.567 | round(2) ;; minus | abs ;; one | string
yes | string ;; none | string ;; list | string ;; huge | string ;; text | list ;; list | batch(2) | list
text | safe ;; "<b>" | escape ;; "<b>" | e ;; "%s!" | format("hi") ;; one | float ;; "a" | attr("x")
list | tojson ;; map | tojson ;; mixed | tojson ;; text | tojson ;; control | tojson ;; huge | tojson ;; tiny | tojson ;; whole | tojson
big | tojson ;; tools | tojson ;; map | tojson(indent=2) ;; map | tojson(indent=4) ;; mixed | tojson(indent=1) ;; "ü" | tojson(ensure_ascii=true)
map | tojson(sort_keys=true) ;; map | tojson(separators=(",", ":")) ;; {} | tojson(indent=2) ;; [] | tojson ;; missing | tojson ;; none | tojson
{1: "a", none: "c"} | tojson ;; (1, 2) | tojson ;; map | tojson(false, 2) ;; list | tojson(indent=0) ;; list | tojson(indent="\t")
yes | tojson ;; "a" | tojson | length ;; map | tojson | safe ;; range(3) | list | tojson ;; {"a": 0.1, "b": 1e22, "c": -0.0} | tojson
range(3) | list ;; range(1, 6, 2) | list ;; dict(a=1, b=2) ;; namespace(a=1).a ;; namespace().b is defined ;; range(0) | list | length
strftime_now("%%") ;; raise_exception("no") ;; undefined_function() ;; map.missing.deeper ;; none.attribute ;; missing.x ;; missing()
loop ;; messages[0] ;; messages[-1]["content"] ;; messages | length ;; messages[1:] | length ;; messages[0].role == "system"
"é" | upper ;; "ß" | upper ;; "straße" | length ;; "naïve"[2] ;; "e\u0301" | length ;; "ǆ" | title ;; "İ" | lower
'\t' | length ;; "\u00e9" ;; 'a\'b' ;; "\x41" ;; 1_000 ;; 0x10 ;; 1e3 ;; 1.5e-7 ;; 100000000000000000000 ;; 1.0 ;; 1.50 ;; "\q" ;; true ;; True ;; None
(text | length) > 2 and (list | length) == 3 ;; text[:-1] ;; list[-2:] ;; list[1:][0] ;; messages[0].content[:2] ;; messages[0]["role"][0]
"""

# What minijinja does otherwise, and no chat template known to us does: the test expects a difference,
# so that this list stays true. docs/tokenizer_and_templates.md tells users.
DIFFERENCES = r"""
"a" ~ huge ;; "a" ~ map ;; (1, 2) ;; map.items() | list ;; range(3) ;; "\U0001f642" ;; half | round ;; 1 / 0
+one ;; "%s-%d" % ("a", 3) ;; "a" < 1 ;; "x" | int ;; words | wordcount ;; words | truncate(8) ;; "a b" | urlencode
"ab".center(6) ;; "ab".ljust(4) ;; "x".zfill(3) ;; "AbC".swapcase() ;; "abc".index("c") ;; list.index(1)
"""

# Whole templates: statements, whitespace control, scopes.
TEMPLATES = [
    "{% for m in messages %}\n  {{ m.role }}\n{% endfor %}\nend",
    "{% for m in messages %}{{ loop.index }}/{{ loop.length }}{{ loop.first }}{{ loop.last }}{{ loop.index0 }}{{ loop.revindex }} {% endfor %}",
    "{% for m in messages %}{% if loop.previtem is defined %}{{ loop.previtem.role }}<{% endif %}{{ m.role }}{% if loop.nextitem is defined %}>{{ loop.nextitem.role }}{% endif %};{% endfor %}",
    "{% for m in messages if m.role != 'system' %}{{ loop.index }}{{ m.role }}{% else %}none{% endfor %}",
    "{% for m in [] %}x{% else %}empty{% endfor %}",
    "{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in map %}{{ k }};{% endfor %}{% for c in text %}{{ c }}.{% endfor %}",
    "{% for i in list %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in list %}{{ i }}{% if i == 1 %}{% break %}{% endif %}{% endfor %}",
    "{% for a in list %}{% for b in list %}{{ loop.index }}{% endfor %}{{ loop.index }}|{% endfor %}",
    "{% for a in list %}{{ loop.cycle('x', 'y') }}{% endfor %}{% for a in list %}{{ loop.changed(a) }}{% endfor %}",
    "{% set x = 1 %}{% for i in list %}{% set x = i %}{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1, seen=false) %}{% for i in list %}{% set ns.x = ns.x + i %}{% set ns.seen = true %}{% endfor %}{{ ns.x }}{{ ns.seen }}",
    "{% set x %}captured {{ one }}{% endset %}[{{ x }}]{{ x | length }}",
    "{% set a, b = [1, 2] %}{{ b }}{{ a }}{% set x = {'k': [1, {'n': 2}]} %}{{ x.k[1].n }}",
    "{% if no %}a{% elif none %}b{% elif list %}c{% else %}d{% endif %}",
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set sys = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% endif %}{{ sys }}{{ loop_messages | length }}",
    "{% if True and not False and None is none %}{{ true }}{{ none }}{% endif %}",
    "{% macro greet(name, mark='!') %}hi {{ name }}{{ mark }}{% endmacro %}{{ greet('a') }}{{ greet('b', mark='?') }}",
    "{% macro list_of(items) %}{% for i in items %}{{ i }},{% endfor %}{% endmacro %}{{ list_of(list) | upper | trim }}",
    "{% macro wrap() %}<{{ caller() }}>{% endmacro %}{% call wrap() %}inside {{ one }}{% endcall %}",
    "{% macro outer(x) %}{% if x > 0 %}{{ x }}{{ outer(x - 1) }}{% endif %}{% endmacro %}{{ outer(3) }}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% filter upper %}loud {{ text }}{% endfilter %}",
    "{% raw %}{{ not }} {% this %}{% endraw %} {# comment {{ x }} #}after",
    "a\n{%- if yes %}\nb\n{%- endif %}\nc", "a\n{% if yes -%}\n  b\n{%- endif -%}\n  c", "a  {%- if yes %} b {% endif -%}  c",
    "   {% if yes %}\n   x\n   {% endif %}\ny", "   {{ one }}\n\n{{ one }}\n", "{%+ if yes %}\nx\n{%+ endif %}\n", "  {%+ if yes +%}\nx{% endif %}",
    "line\r\nnext {% if yes %}\r\nx{% endif %}\r\n", "{{ '\\n' }}{{ \"\\t|\" }}{{ 'a' 'b' }}\n", "{{- text -}}\n  tail\n\n", "x{#- c -#}  y {# d #}\nz",
    "{{ text\n   | upper }}", "{% set x = [1,\n 2] %}{{ x }}", "{{ {'a': {'b': {}}} }}", "{{ '%}' }}{{ '}}' }}{{ \"{%\" }}",
    "{{ bos_token }}{% for m in messages %}{{ '[' + m['role'] + '] ' + m['content'] | trim + eos_token }}{% endfor %}{% if add_generation_prompt %}{{ '[assistant] ' }}{% endif %}",
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}",
    "{%- for m in messages %}\n{%- if m.content is string %}\n{{- m.content }}\n{%- else %}\n{%- for c in m.content %}{{ c.text }}{% endfor %}\n{%- endif %}\n{%- endfor %}",
    "{% for m in messages | selectattr('role', 'ne', 'system') %}{{ m.content }}{% endfor %}",
    "{% if tools is not none and tools | length > 0 %}{{ tools | map(attribute='function') | map(attribute='name') | join(', ') }}{% endif %}",
    "{% if not tools is defined %}{% set tools = none %}{% endif %}{{ tools is none }}", "{% if strftime_now is defined %}{{ strftime_now('%Y') | length }}{% endif %}",
    "{% set content = messages[-1].content %}{% if '—' in content %}{{ content.split('—')[0].rstrip() }}|{{ content.split('—')[-1] }}{% endif %}",
    "{% generation %}{% endgeneration %}", "a{% generation %}b{{ text }}{% endgeneration %}c", "é{%- generation -%}  ü {%- endgeneration -%}  z",
    "{% for m in messages %}<{{ m.role }}>\n{% generation %}\n{{ m.content }}</s>\n{% endgeneration %}\n{% endfor %}",
    "{% generation %}{% set inner = 1 %}{{ inner }}{% endgeneration %}[{{ inner }}]", "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ loop.index }}{{ m.content }}{% endgeneration %}{% endif %}{% endfor %}",
    "{% generation %}a", "{% endgeneration %}", "{% unknown %}", "{{ one", "{% if yes %}", "{% for %}{% endfor %}", "{{ one | nofilter }}", "{{ one is notest }}", "{{ 'open }}", "{% include 'x' %}", "{{ 1 + }}",
    "{% do list %}", "{{ one.__class__ }}", "{{ text.__len__() }}", "{% block b %}x{% endblock %}", "{% set messages = [] %}{{ messages | length }}",
]


def expressions(block):
    for line in block.strip().splitlines():
        for expression in line.split(" ;; "):
            yield "[{{ " + expression + " }}]"


def render(template, variables):
    """The text and its generation spans, or None where transformers refuses."""
    try:
        compiled = chat._compile_jinja_template(template)
        given = dict(variables)
        return chat._render_with_assistant_indices(
            compiled, given.pop("messages"), given.pop("tools"), None, given.pop("add_generation_prompt"), **given)
    except Exception:  # Jinja lets every kind of Python error through.
        return None


def main():
    variables = {"messages": CHAT, "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", **VALUES}
    written = []
    alike = [*expressions(EXPRESSIONS), *TEMPLATES]
    for template in alike + list(expressions(DIFFERENCES)):
        rendered = render(template, variables)
        case = {"template": template}
        if template not in alike:
            case["differs"] = True
        if rendered is None:
            case["refused"] = True
        else:
            case["text"] = rendered[0]
            spans = [[len(rendered[0][:place].encode()) for place in span] for span in rendered[1]]
            case["generated"] = [span for span in spans if span[0] < span[1]]
        written.append(case)
    header = {"made_with": f"transformers {transformers.__version__}", "variables": variables}
    with open(HERE / "jinja_reference.json", "w", encoding="utf-8") as file:
        file.write("{\n" + json.dumps(header, ensure_ascii=False)[1:-1] + ',\n"cases": [\n')
        file.write(",\n".join(json.dumps(case, ensure_ascii=False) for case in written))
        file.write("\n]}\n")
    print(f"{len(written)} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
