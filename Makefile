# Thin names for the commands; what they do is in .ci/run, which needs no make.

.DEFAULT_GOAL := help
.PHONY: help check test race e2e stress explore mutants fuzz cover bench bench-quick bench-code soak wrk plots rename ci

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

check: ## format, vet, import order, tidy, short tests: under a minute, before each commit
	@bash .ci/run format vet imports tidy short

test: ## all tests of all modules
	go test work

race: ## all tests under the race detector
	@bash .ci/run race

e2e: ## real peers: PostgreSQL, nginx, curl; they are installed where that can be done
	@bash .ci/run e2e

stress: ## each storm for STRESS (60s); the core over and over: race detector (COUNT=3), seeded scheduler (BIDE_STEP_SEED)
	BIDE_STRESS=$(STRESS) go test -v -p 4 -timeout 1h -run 'Stress|Storm|Litmus' ./park ./timer ./syncs .
	go test -race -timeout 1h -count=$(COUNT) . ./park ./timer ./syncs ./clock
	go test -tags bidestep,bideinvariant -timeout 1h -count=$(COUNT) . ./park ./timer ./syncs

explore: ## every schedule of small models, EXPLORE (5s) for each: under 5 minutes
	BIDE_EXPLORE=$(EXPLORE) go test -tags bidestep,bideinvariant -timeout 1h -v -run '^TestSim' ./park ./timer ./syncs . ./netio

mutants: ## break the code, one fault at a time: some test has to notice each; ONLY=text for some of them
	@go run ./internal/mutants $(ONLY)

fuzz: ## every fuzz target for FUZZTIME (1m)
	@FUZZTIME=$(FUZZTIME) bash .ci/run fuzz

cover: ## coverage by function, and .out/cover.html
	@mkdir -p .out
	go test -coverpkg=./... -coverprofile=.out/cover.txt ./...
	go tool cover -html=.out/cover.txt -o .out/cover.html
	go tool cover -func=.out/cover.txt | sort -k3 -n

bench: ## every row beside its rivals, with the raw results in RAW (.out/bench.jsonl)
	@mkdir -p $(dir $(RAW))
	go run ./bench/cmd/bench -o $(RAW)

bench-quick: ## the headlines within a minute
	@go run ./bench/cmd/bench -quick

bench-code: ## benchmarks beside the code
	go test -run '^$$' -bench . -benchmem ./...

soak: ## idle timeouts of 50k connections for SOAK (5m): memory and lateness must not grow
	@go run ./bench/cmd/soak -d $(SOAK)

wrk: ## requests a second with httpio.Middleware and without, 10 pairs of 3 s; needs wrk (apt-get install wrk)
	@go run ./bench/cmd/wrk

plots: ## draw docs/benchmarks and what README shows of it from its raw.jsonl
	@go run ./bench/cmd/plots

rename: ## give the module another path: MODULE=example.org/team/bide
	@bash .ci/rename "$(MODULE)"

ci: ## everything, as .ci/run does it
	@bash .ci/run

COUNT ?= 3
STRESS ?= 60s
SOAK ?= 5m
EXPLORE ?= 5s
FUZZTIME ?= 1m
RAW ?= .out/bench.jsonl
