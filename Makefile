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
ARGS =
RUN = @exec sh tests/tools/python.sh
# Its quotes are for the program that reads it, not for the shell.
export FAULT

.PHONY: help test demo lint sanity unit integration simulation conformance crash test-crash lxd labs hosted molecule cores bench docs build \
	simulator lab lab-status lab-stop lab-fault lab-heal lab-example programs generate locks clean purge

help: ## this list
	@echo "make demo and make test are all you need; the rest are parts of them."
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' Makefile | awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'

demo: ## machines, and a hosted cluster on them, from nothing and back
	$(RUN) demo

test: ## everything below from lint to hosted
	$(RUN) test

lint: ## read the code, the documentation and the package without running them
	$(RUN) lint

sanity: ## ansible-test sanity on every ansible-core that has a Python here
	$(RUN) sanity

unit: ## the pure parts, and the HTTP client
	$(RUN) unit $(ARGS)

integration: ## the modules against the simulator
	$(RUN) integration $(ARGS)

simulation: ## the simulator itself
	$(RUN) simulation $(ARGS)

conformance: ## how faithful the simulator is to recorded answers of MAAS
	$(RUN) conformance $(ARGS)

crash: ## kill a run after each of its requests, and run it again
	$(RUN) crash $(ARGS)

test-crash: ## the same, and playbooks for hosted clusters killed at each of their writes: an hour
	$(RUN) test-crash $(ARGS)

lxd: ## the modules for LXD, on a real one; needs root
	$(RUN) lxd $(ARGS)

cores: ## unit and integration on the other versions of ansible-core
	$(RUN) cores

labs: ## the lab in which hosted clusters live, its LXD, and the programs it is made of
	$(RUN) labs $(ARGS)

hosted: ## modules, roles and playbooks for hosted clusters, in the lab
	$(RUN) hosted $(ARGS)

molecule: ## the roles' scenarios, each on a lab of its own (ARGS="-s hypershift_operator")
	$(RUN) molecule $(ARGS)

bench: ## how fast it is; prints numbers
	$(RUN) bench

docs: ## the documentation as HTML, in docs/build
	$(RUN) docs

build: ## the tarball that ansible-galaxy installs
	$(RUN) build

simulator: ## a MAAS to try playbooks on, in the foreground (PORT=5240 KEY_FILE=key.txt)
	$(RUN) simulator --port "$(PORT)" --key-file "$(KEY_FILE)"

lab: ## Kubernetes, HyperShift, Cluster API and a MAAS to try playbooks on (NAME=lab SPEED=60 MACHINES=12 OPERATOR=yes LXD=no)
	$(RUN) lab start --name "$(NAME)" --speed "$(SPEED)" --machines "$(MACHINES)" --operator "$(OPERATOR)" \
		--lxd "$(LXD)"

lab-status: ## what runs in the lab, and how it is reached (NAME=lab)
	$(RUN) lab status --name "$(NAME)"

lab-stop: ## end the lab; nothing of it is left (NAME=lab)
	$(RUN) lab stop --name "$(NAME)"

lab-fault: ## break something in the lab; without FAULT, list what (NAME=lab FAULT="pause name=etcd")
	$(RUN) lab fault --name "$(NAME)" -- "$$FAULT"

lab-example: ## a hosted cluster with two nodes, to pipe into kubectl apply --server-side -f - (NAME=lab PROVIDER=)
	$(RUN) lab example --name "$(NAME)" $(if $(PROVIDER),--provider "$(PROVIDER)")

lab-heal: ## end a fault of the lab, or all (NAME=lab FAULT="pause name=etcd")
	$(RUN) lab heal --name "$(NAME)" -- "$$FAULT"

programs: ## build the programs of the lab, once; everything that needs them does it too
	$(RUN) lab build

generate: ## action groups and action plugins, from the modules
	$(RUN) generate

locks: ## pin the newest versions of all tools (needs uv)
	$(RUN) locks

clean: ## remove what was made from this clone
	$(RUN) clean

purge: ## end all labs, and remove the virtual environments, programs and downloads too
	$(RUN) purge
