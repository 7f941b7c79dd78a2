# peers.gnuplot: FOLDER/peers.svg from what bench_peers wrote there.
#	gnuplot -e "folder = 'build/bench/peers'; kind = 'date and machine'" test/bench/peers/peers.gnuplot

set terminal svg size 1100,900 background "white" font "Helvetica,12"
set output folder."/peers.svg"
set datafile missing "nan"

file(readers) = folder."/peers.".readers.".dat"
first = system("head -n 1 '".file("1")."'")
transports = (words(first) - 1) / 4
name(i) = word(first, 2 + 4 * i)
array measure[3] = ["p50, us", "flood, messages/s", "window, messages/s"]
array offset[3] = [0, 2, 3]
colours = "#1f77b4 #ff7f0e #2ca02c #9467bd #8c564b #e377c2 #555555 #bcbd22 #17becf"
loan(i) = strstrt(name(i), "-loan")
same(i, j) = name(j) eq name(i)[1:loan(i) - 1]
ours(i) = name(i)[1:3] eq "ach"
# A transport with loans has the colour of the one without.
pick(i) = loan(i) ? sum [j = 0:transports - 1] (same(i, j) ? j : 0) : i
colour(i) = ours(i) ? "#d62728" : word(colours, 1 + pick(i) % words(colours))
width(i) = ours(i) ? 3 : 1.4
dashes(i) = loan(i) ? 2 : 1

set multiplot layout 3,3 title "Channels and their peers: 1, 2 and 8 readers (dashed: loans, without copies)" \
	margins 0.06,0.985,0.13,0.92 spacing 0.05,0.075
unset key
set logscale xy
set xtics ("64 B" 64, "1 KiB" 1024, "8 KiB" 8192, "64 KiB" 65536) nomirror
set xrange [48:90000]
set format y "10^{%L}"
set border 3 linecolor rgb "#666666"
set grid linecolor rgb "#e0e0e0" linetype 1
do for [row = 1:3] {
	do for [readers in "1 2 8"] {
		if (row == 3 && readers eq "8") {
			do for [i = 0:transports - 1] {
				x = 0.06 + 0.185 * (i % 5)
				y = 0.065 - 0.025 * (i / 5)
				set arrow 1 + i from screen x,y to screen x + 0.035,y nohead linewidth width(i) \
					linecolor rgb colour(i) dashtype dashes(i)
				set label 1 + i name(i) at screen x + 0.042,y noenhanced font ",11"
			}
			set label 100 kind at screen 0.985,0.012 right noenhanced font ",10" textcolor rgb "#888888"
		}
		set title sprintf("%s, %s reader%s", measure[row], readers, readers eq "1" ? "" : "s") font ",11"
		plot for [i = 0:transports - 1] file(readers) using 1:(column(2 + 4 * i + offset[row])) \
			with linespoints linewidth width(i) linecolor rgb colour(i) dashtype dashes(i) \
			pointtype 7 pointsize 0.4
	}
}
unset multiplot
