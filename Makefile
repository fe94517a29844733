# Everything a person or a machine does with this repository. `make` lists it.
# The engine's library and the S3 test server are fetched and built on first use.

GO     ?= go
TEST   ?= ./...
export CGO_ENABLED ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo demo-s3 test check stress failover bench bench-native build fmt lint tidy race docs coverage proto slatedb s3server clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: slatedb ## the guided tour of three nodes: load, kill -9, restart, clean stop, a fence
	@$(GO) build -v -o bin/demo ./cmd/demo
	@bin/demo tour

demo-s3: slatedb s3server ## the same tour on the S3 test server; on another: bin/demo tour --store s3://…
	@$(GO) build -v -o bin/demo ./cmd/demo
	@$(GO) build -v -o bin/s3run ./internal/s3test/run
	@bin/s3run bin/demo tour --store '{store}'

test: slatedb s3server ## all tests, under seven minutes on two cores
	$(GO) test -timeout 10m $(TEST)

check: fmt-check vet lint tidy-check docs race ## format, vet, lint, tidy, docs, tests with the race detector

stress: slatedb s3server ## the long forms of the tests (about an hour)
	SLAP_STRESS=1 $(GO) test -timeout 120m -count=1 -v $(TEST)

failover: slatedb s3server ## nodes that are killed, paused and stopped, many times in a row (about half an hour)
	SLAP_FAILOVER=1 $(GO) test -timeout 90m -count=1 -v \
	  -run 'TestFO[0-9]|TestP3_3_|TestP6_1_|TestP2_7_|TestLL9_|TestOL16_|TestACleanStopUnderLoad|TestNotExecutedIsTrueWhile' . ./cmd/demo

bench: slatedb s3server ## each benchmark beside its peer, one line for each target
	@$(GO) build -v -o bin/bench ./test/bench
	@bin/bench

bench-native: slatedb ## the binding beside the engine's Rust crate (builds it with cargo)
	@$(GO) build -v -o bin/bench ./test/bench
	@bin/bench -native

build: ## compile everything
	$(GO) build ./...

fmt: ## format the code
	$(LINT) fmt

.PHONY: fmt-check vet tidy-check
fmt-check:
	$(LINT) fmt --diff

vet:
	$(GO) vet ./...

LINT = $(GO) tool -modfile=tools/go.mod golangci-lint

lint: ## golangci-lint, everything on but a reasoned list
	$(LINT) run

tidy: ## tidy both modules
	$(GO) mod tidy
	cd tools && $(GO) mod tidy

tidy-check:
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff

PROTOS = $(wildcard messages/*.proto cmd/demo/demopb/*.proto)
PROTOC_GEN_GO = .cache/bin/protoc-gen-go

proto: ## generate the Go code of the protobuf messages
	@test -x .cache/protoc/bin/python || python3 -m venv .cache/protoc
	@.cache/protoc/bin/pip install -q grpcio-tools==1.85.1
	$(GO) build -modfile=tools/go.mod -o $(PROTOC_GEN_GO) google.golang.org/protobuf/cmd/protoc-gen-go
	.cache/protoc/bin/python -m grpc_tools.protoc -I. --plugin=protoc-gen-go=$(PROTOC_GEN_GO) \
	  --go_out=. --go_opt=paths=source_relative $(PROTOS)

docs: ## docs in step with the code
	$(GO) run ./test/docs
	$(GO) run ./test/coverage

coverage: ## write docs/coverage.md: each rule and the tests named after it
	$(GO) run ./test/coverage -write

race: slatedb s3server ## all tests with the race detector
	$(GO) test -race $$($(GO) run ./test/race) -timeout 25m $(TEST)

slatedb: ## fetch and verify the engine's library, once
	@$(GO) build -v -o bin/install ./store/slatedb/install
	@bin/install

s3server: ## build the S3 server that the tests start, once
	@$(GO) build -v -o bin/s3server ./internal/s3test/build
	@bin/s3server

clean: ## remove what was built here (not the caches)
	rm -rf bin
