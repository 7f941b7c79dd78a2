# latency.gnuplot: FOLDER/latency.svg from the distributions that bench_latency wrote there.
#	gnuplot -e "folder = 'build/bench'; kind = 'date and machine'" test/bench/latency.gnuplot
#
# Cumulative distributions.  The vertical axis is stretched towards 100 %, each step a tenth of the rest, because the
# slowest messages are what matters to a control loop.

set terminal svg size 900,420 background "white" font "Helvetica,12"
set output folder."/latency.svg"

array name[6] = ["futex", "ach", "pipe", "mq", "dgram", "achfd"]
array caption[6] = ["bare futex", "channel", "pipe", "POSIX queue", "unix datagram", "channel with poll"]
array colour[6] = ["#777777", "#0b5fa5", "#d08a00", "#9a5ab0", "#2f9060", "#62aee6"]
array width[6] = [2, 4, 1.6, 1.6, 1.6, 2.6]

data(place) = folder."/latency.1khz.1r.64B.".place.".dat"
stretched(part) = -log10(1 - part)
# Beyond 99.9 % there are only a few messages: the line ends there.
height(part) = part < 0.9991 ? stretched(part) : NaN

set multiplot
set label "From put until a sleeping reader in another process has the message" at screen 0.02, 0.95 font ",15"
set label "64 B, 1000 per second, SCHED\\_FIFO, one reader; upwards: how many messages took no longer" \
	at screen 0.02, 0.895 font ",12" textcolor rgb "#555555"
set label kind at screen 0.98, 0.025 right noenhanced font ",10" textcolor rgb "#888888"

set logscale x
set xrange [2:100]
set xtics ("2" 2, "5" 5, "10" 10, "20" 20, "50" 50, "100 µs" 100) nomirror
set yrange [0:3.1]
set ytics ("0" 0, "50 %%" stretched(0.5), "90 %%" 1, "99 %%" 2, "99.9 %%" 3) nomirror
set border 3 linecolor rgb "#666666"
set grid linecolor rgb "#e0e0e0" linetype 1
set bmargin at screen 0.13
set tmargin at screen 0.78
unset key

do for [i = 1:6] {
	set arrow i from screen 0.805, 0.74 - 0.07 * i to screen 0.835, 0.74 - 0.07 * i nohead \
		linecolor rgb colour[i] linewidth width[i]
	set label 10 + i caption[i] at screen 0.845, 0.74 - 0.07 * i font ",12"
}
panels = system("test -e '".data("across")."'; echo $?") eq "0" ? 2 : 1 # a machine may have one core
do for [panel = 1:panels] {
	place = panel == 1 ? "onecore" : "across"
	set lmargin at screen panel == 1 ? 0.085 : 0.465
	set rmargin at screen panel == 1 ? 0.395 : 0.775
	set title panel == 1 ? "on one core" : "across cores"
	plot for [i = 1:6] data(place) index name[i] using 1:(height($2)) with lines \
		linecolor rgb colour[i] linewidth width[i]
	unset label
	unset arrow
}
