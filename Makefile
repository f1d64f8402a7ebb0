# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later

PORT = 5240
KEY_FILE = key.txt
NAME = lab
SPEED = 60
MACHINES = 12
OPERATOR = yes
PROVIDER =
LXD = no
FAULT =
PARTS =
ARGS =
NOX = @exec sh tests/tools/nox.sh
LAB = $(NOX) -s lab --
# Its quotes are for the program that reads it, not for the shell.
export FAULT

.PHONY: help test verify demo unit integration simulation conformance crash journeys lint sanity lxd labs hosted kills molecule bench docs build \
	simulator lab lab-status lab-stop lab-fault lab-heal lab-example programs generate locks clean purge

help: ## this list
	@echo "make demo and make test are all you need; the rest are parts of them. nox -l lists more."
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' Makefile | awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'

demo: ## machines, and a hosted cluster on them, from nothing and back
	$(NOX) -s demo

test: ## what every change passes: 15 minutes, 45 the first time
	$(NOX) -s test

verify: ## all the rest, for hours (PARTS="hosted lxd" for some)
	$(NOX) -s verify -- $(PARTS)

lint: ## read the code, the documentation and the package without running them (ARGS=mypy)
	$(NOX) -s lint -- $(ARGS)

sanity: ## ansible-test sanity on every ansible-core that has a Python here
	$(NOX) -t sanity

unit: ## the parts that decide, and the HTTP clients (ARGS="-k claim -x" here and below)
	$(NOX) -s unit -- $(ARGS)

integration: ## the modules against the simulator
	$(NOX) -s integration -- $(ARGS)

simulation: ## the simulator itself
	$(NOX) -s simulation -- $(ARGS)

conformance: ## how faithful the simulator is to recorded answers of MAAS
	$(NOX) -s conformance -- $(ARGS)

crash: ## runs that are killed and run again
	$(NOX) -s crash -- $(ARGS)

journeys: ## one hosted cluster there and back, and VMs on a real LXD
	$(NOX) -s journeys -- $(ARGS)

lxd: ## the modules and roles for LXD, on a real one; needs root
	$(NOX) -s lxd -- $(ARGS)

labs: ## the lab in which hosted clusters live, its LXD, and the programs it is made of
	$(NOX) -s labs -- $(ARGS)

hosted: ## modules, roles and playbooks for hosted clusters, in the lab
	$(NOX) -s hosted -- $(ARGS)

kills: ## playbooks for hosted clusters killed at each of their writes: an hour
	$(NOX) -s kills -- $(ARGS)

molecule: ## the roles' scenarios, each on a lab of its own (ARGS="-s hypershift_operator")
	$(NOX) -s molecule -- $(ARGS)

bench: ## how fast it is; prints numbers
	$(NOX) -s bench

docs: ## the documentation as HTML, in docs/build
	$(NOX) -s docs

build: ## the tarball that ansible-galaxy installs
	$(NOX) -s build

simulator: ## a MAAS to try playbooks on, in the foreground (PORT=5240 KEY_FILE=key.txt)
	$(NOX) -s simulator -- --port "$(PORT)" --key-file "$(KEY_FILE)"

lab: ## Kubernetes, HyperShift, Cluster API and a MAAS to try playbooks on (NAME=lab SPEED=60 MACHINES=12 OPERATOR=yes LXD=no)
	$(LAB) start --name "$(NAME)" --speed "$(SPEED)" --machines "$(MACHINES)" --operator "$(OPERATOR)" --lxd "$(LXD)"

lab-status: ## what runs in the lab, and how it is reached (NAME=lab)
	$(LAB) status --name "$(NAME)"

lab-stop: ## end the lab; nothing of it is left (NAME=lab)
	$(LAB) stop --name "$(NAME)"

lab-fault: ## break something in the lab; without FAULT, list what (NAME=lab FAULT="pause name=etcd")
	$(LAB) fault --name "$(NAME)" -- "$$FAULT"

lab-example: ## a hosted cluster with two nodes, to pipe into kubectl apply --server-side -f - (NAME=lab PROVIDER=)
	$(LAB) example --name "$(NAME)" $(if $(PROVIDER),--provider "$(PROVIDER)")

lab-heal: ## end a fault of the lab, or all (NAME=lab FAULT="pause name=etcd")
	$(LAB) heal --name "$(NAME)" -- "$$FAULT"

programs: ## build the programs of the lab, once; everything that needs them does it too
	$(NOX) -s programs

generate: ## action groups and action plugins, from the modules
	$(NOX) -s generate

locks: ## pin the newest versions of all tools (needs uv)
	$(NOX) -s locks

clean: ## remove what was made from this clone
	$(NOX) -s clean

purge: ## end all labs, and remove the virtual environments, programs and downloads too
	$(NOX) -s purge
