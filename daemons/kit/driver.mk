# exampled, a driver of Endplate in a folder of its own: endplate-new-driver(1).
#	make, make check, make run, make install, make clean
#
#	CC=gcc|clang   CFLAGS=...   PKG_CONFIG_PATH=PREFIX/lib/pkgconfig: another Endplate, or TREE/build: one that is built
#	DESTDIR=
#
# example_sim*.c are the simulated device, all other files here the driver.

DRIVER = exampled
SIM_SOURCES = $(wildcard example_sim*.c)
SOURCES = $(filter-out $(SIM_SOURCES),$(wildcard *.c))
HEADERS = $(wildcard *.h)

ifeq ($(shell command -v pkg-config || :),)
$(error there is no program pkg-config: install the package pkg-config)
endif
# Of make's command line or of the environment, which $(shell) does not have from the former.
PKG_CONFIG = PKG_CONFIG_PATH="$(PKG_CONFIG_PATH):@PKGCONFIGDIR@" pkg-config
KIT := $(shell $(PKG_CONFIG) --variable=templatedir endplate-driver)
BIN := $(shell $(PKG_CONFIG) --variable=bindir endplate-driver)
LIB := $(shell $(PKG_CONFIG) --variable=libdir endplate-driver)
KIT_CFLAGS := $(shell $(PKG_CONFIG) --cflags endplate-driver)
KIT_LIBS := $(shell $(PKG_CONFIG) --libs endplate-driver)
ifeq ($(KIT),)
$(error pkg-config finds no endplate-driver: install Endplate, or give PKG_CONFIG_PATH=PREFIX/lib/pkgconfig)
endif

ifeq ($(origin CC),default)
CC = gcc
endif
CFLAGS = -O2 -g -Wall -Wextra
# A make that is killed leaves no half of a file under its name.
COMPILE = $(CC) -std=gnu11 $(CFLAGS) $(KIT_CFLAGS) $(LDFLAGS) -o $@.new $(filter %.c,$^)
DONE = chmod go-w $@.new && mv $@.new $@
OBJECT = -fPIC -shared -Wl,--version-script="$(KIT)/daemons/drvhost/object.map" -lm

.PHONY: all check run install clean
all: $(DRIVER) $(DRIVER).so $(DRIVER)-sim.so

$(DRIVER): $(SOURCES) $(HEADERS)
	$(COMPILE) $(KIT_LIBS) && $(DONE)
$(DRIVER).so: $(SOURCES) $(HEADERS)
	$(COMPILE) $(OBJECT) && $(DONE)
$(DRIVER)-sim.so: $(SIM_SOURCES) $(HEADERS)
	$(COMPILE) $(OBJECT) && $(DONE)

# The codec has the vectors of the page, the driver its simulated device on a soft wire.
test/test_example: test/test_example.c $(filter-out $(DRIVER)%,$(SOURCES)) $(HEADERS)
	$(COMPILE) -I. -I"$(KIT)" -I"$(KIT)/test/lib/unity" "$(KIT)/test/lib/testcase.c" \
		"$(KIT)/test/daemons/drv/page_lib.c" $(KIT_LIBS) && $(DONE)
check: all test/test_example
	test/test_example
	ENDPLATE_KIT="$(KIT)" BUILD=. PATH="$(BIN):$$PATH" bash test/test_$(DRIVER).sh

run: all
	PATH="$(BIN):$$PATH" achstart example.launch

# Then robot files anywhere name the driver, and robotsim finds its device.
install: all
	install -D -t "$(DESTDIR)$(BIN)" $(DRIVER)
	install -D -t "$(DESTDIR)$(LIB)/endplate" $(DRIVER).so $(DRIVER)-sim.so

clean:
	rm -f $(DRIVER) $(DRIVER).so $(DRIVER)-sim.so test/test_example *.new test/*.new
