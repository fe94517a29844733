package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/s3test"
)

// tellTime is how long a node may take to say why it does not start.
const tellTime = 10 * time.Second

// unfit is a command line that cannot work, and words of the sentence that says so.
type unfit struct {
	name      string
	arguments []string
	env       []string // beside that of this process
	says      []string
}

// refused runs the demo and expects one sentence and status 2, in time.
func refused(t *testing.T, c unfit) {
	t.Helper()
	began := time.Now()
	stdout, stderr, status := demo(t, append(os.Environ(), c.env...), c.arguments...)
	took := time.Since(began)
	t.Logf("%.1f s: %s", took.Seconds(), stderr)
	require.Equal(t, statusUnfit, status, stderr)
	require.Less(t, took, tellTime)
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	require.True(t, strings.HasPrefix(stderr, "demo: "), stderr)
	for _, words := range c.says {
		require.Contains(t, stderr, words)
	}
	for _, never := range []string{"goroutine ", "panic", "wrongsecret", s3test.SecretKey} {
		require.NotContains(t, stderr+stdout, never)
	}
}

// node is the command line of a node on free ports.
func nodeOn(t *testing.T, store string, more ...string) []string {
	t.Helper()
	return append([]string{"node", "--name", "a", "--listen", mustAddress(t), "--http", mustAddress(t), "--store", store}, more...)
}

func TestUnfitCommandLines(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("lease_tll: 3s\n"), 0o600))
	for _, c := range []unfit{
		{name: "unknown command", arguments: []string{"nod"}, says: []string{`unknown command "nod"`}},
		{name: "unknown flag", arguments: nodeOn(t, "memory:///", "--sharts", "3"), says: []string{"-sharts"}},
		{name: "stray argument", arguments: nodeOn(t, "memory:///", "more"), says: []string{`"more"`}},
		{name: "no flags", arguments: []string{"node"}, says: []string{"--name, --listen, --http and --store"}},
		{name: "no shards", arguments: nodeOn(t, "memory:///", "--shards", "0"), says: []string{"--shards must not be 0"}},
		{name: "shards that are no number", arguments: nodeOn(t, "memory:///", "--shards", "many"), says: []string{`--shards must be a whole number, not "many"`}},
		{name: "unknown strategy", arguments: nodeOn(t, "memory:///", "--strategy", "paxos"), says: []string{`--strategy "paxos" is unknown: use `}},
		{name: "static without peers", arguments: nodeOn(t, "memory:///", "--strategy", "static"), says: []string{"--peers is empty"}},
		{name: "static without this node", arguments: nodeOn(t, "memory:///", "--strategy", "static", "--peers", "b=h:1"), says: []string{"--peers", "a"}},
		{name: "unknown key", arguments: nodeOn(t, "memory:///", "--config", config), says: []string{`unknown key "lease_tll"`, config}},
		{name: "unknown store", arguments: nodeOn(t, "gs://bucket"), says: []string{"--store"}},
		{name: "directory is a file", arguments: nodeOn(t, "file://"+file), says: []string{file}},
		{
			name:      "http port in use",
			arguments: []string{"node", "--name", "a", "--listen", mustAddress(t), "--http", taken.Addr().String(), "--store", "memory:///"},
			says:      []string{"--http", "is in use"},
		},
		{
			name:      "node port in use",
			arguments: []string{"node", "--name", "a", "--listen", taken.Addr().String(), "--http", mustAddress(t), "--store", "memory:///"},
			says:      []string{"--listen", "is in use"},
		},
		{
			name: "port of a node among others in use",
			arguments: []string{
				"node", "--name", "a", "--listen", taken.Addr().String(), "--http", mustAddress(t), "--store", "memory:///",
				"--strategy", "static", "--peers", "a=127.0.0.1:7001,b=127.0.0.1:7002",
			},
			says: []string{"--listen " + taken.Addr().String() + " is in use"},
		},
		{
			name: "all addresses, none told",
			arguments: []string{
				"node", "--name", "a", "--listen", "0.0.0.0:0", "--http", mustAddress(t), "--store", "memory:///",
				"--strategy", "static", "--peers", "a=127.0.0.1:7001,b=127.0.0.1:7002",
			},
			says: []string{`--advertise is required since --listen "0.0.0.0:0"`},
		},
		{
			name: "own address that cannot be reached",
			arguments: nodeOn(t, "memory:///", "--strategy", "static", "--peers", "a=127.0.0.1:7001,b=127.0.0.1:7002",
				"--advertise", taken.Addr().String()),
			says: []string{"--advertise " + taken.Addr().String() + ": this node cannot reach itself there"},
		},
		{
			name: "own address that cannot be reached, under leases",
			arguments: nodeOn(t, "memory:///", append(underLeases(trioTTL), "--trust-leases",
				"--advertise", taken.Addr().String())...),
			says: []string{"--advertise " + taken.Addr().String() + ": this node cannot reach itself there"},
		},
		{
			name: "nobody to call, under leases", arguments: nodeOn(t, "memory:///", underLeases(trioTTL)...),
			says: []string{"--peers", "--trust-leases"},
		},
		{
			name: "a lease shorter than the clocks' skew", arguments: nodeOn(t, "memory:///", "--lease-ttl", "1s", "--max-clock-skew", "1s"),
			says: []string{"--max-clock-skew is 1s"},
		},
		{
			name:      "address of another machine",
			arguments: []string{"node", "--name", "a", "--listen", mustAddress(t), "--http", "192.0.2.1:8001", "--store", "memory:///"},
			says:      []string{"--http 192.0.2.1:8001"},
		},
		{name: "shards of nobody", arguments: []string{"shards", "--http", "127.0.0.1:1"}, says: []string{"no node answers at 127.0.0.1:1: start one, or correct --http"}},
		{name: "shards without address", arguments: []string{"shards"}, says: []string{"--http is empty"}},
		{name: "load without clients", arguments: []string{"load", "--http", "127.0.0.1:1", "--clients", "0"}, says: []string{"--clients"}},
		{name: "load without time", arguments: []string{"load", "--http", "127.0.0.1:1", "--duration", "0s"}, says: []string{"--duration"}},
		{name: "tour in memory", arguments: []string{"tour", "--store", "memory:///"}, says: []string{"memory:///"}},
		{name: "tour with a stray argument", arguments: []string{"tour", "now"}, says: []string{`"now"`}},
		{name: "diagnose nothing", arguments: []string{"diagnose"}, says: []string{"--store"}},
		{
			name: "missing library", arguments: nodeOn(t, "memory:///"), env: []string{"SLATEDB_LIBRARY=/nowhere/libslatedb.so"},
			says: []string{"SLATEDB_LIBRARY", "/nowhere/libslatedb.so"},
		},
		{
			name: "library never installed", arguments: nodeOn(t, "memory:///"),
			env:  []string{"SLATEDB_LIBRARY=", "HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + t.TempDir()},
			says: []string{"go run github.com/slap-go/slap/store/slatedb/install"},
		},
		{
			name: "wrong library", arguments: nodeOn(t, "memory:///"), env: []string{"SLATEDB_LIBRARY=" + someLibrary(t)},
			says: []string{someLibrary(t)},
		},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, c) })
	}
}

// someLibrary is a shared library that is not the engine's.
func someLibrary(t *testing.T) string {
	t.Helper()
	for _, pattern := range []string{"/lib/*/libm.so.6", "/usr/lib/*/libm.so.6", "/lib*/libm.so.6", "/lib/libc.musl-*"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return binary
}

func TestUnfitS3Stores(t *testing.T) {
	server := s3test.Start(t, "demo")
	hung := hang(t)
	at := func(endpoint, bucket string) string {
		return fmt.Sprintf("s3://%s/unfit?endpoint=%s&region=us-east-1", bucket, endpoint)
	}
	wrong := []string{"AWS_ACCESS_KEY_ID=" + s3test.AccessKey, "AWS_SECRET_ACCESS_KEY=wrongsecret"}
	none := []string{
		"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_PROFILE=", "AWS_CONFIG_FILE=/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true",
	}
	for _, c := range []unfit{
		{name: "nobody listens", arguments: nodeOn(t, at("http://127.0.0.1:1", "demo")), env: server.Env(), says: []string{"127.0.0.1:1"}},
		{name: "nobody answers", arguments: nodeOn(t, at("http://"+hung, "demo")), env: server.Env()},
		{name: "wrong credentials", arguments: nodeOn(t, server.URL("demo", "unfit")), env: wrong},
		{name: "no credentials", arguments: nodeOn(t, server.URL("demo", "unfit")), env: none, says: []string{"credentials"}},
		{name: "missing bucket", arguments: nodeOn(t, server.URL("missing", "unfit")), env: server.Env(), says: []string{"missing"}},
		{name: "conditions ignored", arguments: nodeOn(t, at(ignoresConditions(t), "demo")), env: server.Env()},
		{name: "diagnose: nobody listens", arguments: []string{"diagnose", "--store", at("http://127.0.0.1:1", "demo")}, env: server.Env()},
		{name: "diagnose: wrong credentials", arguments: []string{"diagnose", "--store", server.URL("demo", "unfit")}, env: wrong},
		{name: "diagnose: conditions ignored", arguments: []string{"diagnose", "--store", at(ignoresConditions(t), "demo")}, env: server.Env()},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, c) })
	}
}

// hang accepts connections and never answers.
func hang(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String() // the kernel accepts into the backlog
}

func TestAnotherClusterOrShardCountOnThePath(t *testing.T) {
	p := directory(t)
	stopNode(t, startNode(t, p.options("--shards", "2")))
	refused(t, unfit{arguments: nodeOn(t, p.url, "--shards", "3"), says: []string{"demo: --shards 3", "start with --shards 2, or use another path"}})
	refused(t, unfit{arguments: nodeOn(t, p.url, "--shards", "2", "--cluster", "other"), says: []string{"demo: --cluster other", "start with --cluster demo, or use another path"}})
}

func TestACorruptManifest(t *testing.T) {
	for name, corrupt := range map[string]func(data []byte) []byte{
		"garbage":     func(data []byte) []byte { return []byte("garbage") },
		"cut in half": func(data []byte) []byte { return data[:len(data)/2] },
		"empty":       func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := directory(t)
			stopNode(t, startNode(t, p.options("--shards", "2")))
			manifests, err := filepath.Glob(strings.TrimPrefix(p.url, "file://") + "/shard-001/manifest/*.manifest")
			require.NoError(t, err)
			require.NotEmpty(t, manifests)
			for _, path := range manifests {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, corrupt(data), 0o600))
			}
			refused(t, unfit{arguments: nodeOn(t, p.url, "--shards", "2"), says: []string{"shard 1"}})
		})
	}
}

// mount mounts a tmpfs, or skips the test with the reason.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	output, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
	if err != nil {
		t.Skipf("this machine does not let us mount a tmpfs: %v: %s", err, output)
	}
	t.Cleanup(func() {
		if output, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, output)
		}
	})
	return dir
}

func TestAReadOnlyDirectory(t *testing.T) {
	dir := mount(t, "size=1m,ro")
	refused(t, unfit{arguments: nodeOn(t, "file://"+dir), says: []string{dir}})
	refused(t, unfit{arguments: nodeOn(t, "file://"+dir+"/missing"), says: []string{dir}})
	refused(t, unfit{arguments: []string{"diagnose", "--store", "file://" + dir}, says: []string{dir}})
}

func TestAFullDisk(t *testing.T) {
	dir := mount(t, "size=64k")
	require.Error(t, os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600))
	refused(t, unfit{arguments: nodeOn(t, "file://"+dir), says: []string{dir}})
}
