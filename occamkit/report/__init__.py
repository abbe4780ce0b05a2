"""What a run has come to, for people: one page that needs nothing else, a picture, a text, and a film.

content    everything that a report shows, gathered once
constants  the numbers in a formula and how sure they are
axes       scales, ticks and plots as SVG
drawing    the network as SVG
page       the HTML page; page_style holds its style and its script
text       the same as Markdown
picture    the same as a PNG, with matplotlib
film       the network converging, as a GIF, with Pillow
write      writes any of them beside the run, or where one asks for it
"""
