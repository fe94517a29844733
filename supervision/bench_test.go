package supervision

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// spawned is the number of children in one measurement.
const spawned = 10_000

// BenchmarkSpawn measures the start of a child until its Started has returned: by Proto.Actor alone, as
// SpawnNamed calls of a parent actor, and as a dynamic child of a supervisor, asked for by message. In "ratio" the two
// take turns; it prints the median ratio of their throughputs.
func BenchmarkSpawn(b *testing.B) {
	b.Run("bare", func(b *testing.B) { each(b, bareSpawn) })
	b.Run("supervised", func(b *testing.B) { each(b, supervisedSpawn) })
	b.Run("ratio", func(b *testing.B) {
		var ratios []float64
		for b.Loop() {
			bare, supervised := bareSpawn(b), supervisedSpawn(b)
			ratios = append(ratios, float64(bare)/float64(supervised))
		}
		slices.Sort(ratios)
		report(os.Stdout, ratios[len(ratios)/2])
		b.ReportMetric(ratios[len(ratios)/2], "ratio")
	})
}

func report(w io.Writer, ratio float64) {
	fmt.Fprintf(w, "\nbench: supervised-spawn ratio=%.2f target>=0.5\n", ratio)
}

// each reports the time for one child.
func each(b *testing.B, measure func(*testing.B) time.Duration) {
	var total time.Duration
	n := 0
	for b.Loop() {
		total += measure(b)
		n += spawned
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(n), "ns/child")
	b.ReportMetric(0, "ns/op")
}

var benchSystem = sync.OnceValue(newSystem)

// counted makes actors that count down when they have started.
func counted(started *sync.WaitGroup) func() actor.Actor {
	return func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if is[*actor.Started](c.Message()) {
				started.Done()
			}
		})
	}
}

func bareSpawn(*testing.B) time.Duration {
	var started, stopped sync.WaitGroup
	started.Add(spawned)
	stopped.Add(1)
	system, props := benchSystem(), actor.PropsFromProducer(counted(&started))
	parent := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch msg := c.Message().(type) {
		case do:
			msg(c)
		case *actor.Stopped:
			stopped.Done()
		}
	}))
	began := time.Now()
	system.Root.Send(parent, do(func(c actor.Context) {
		for i := range spawned {
			if _, err := c.SpawnNamed(props, strconv.Itoa(i)); err != nil {
				panic(err)
			}
		}
	}))
	started.Wait()
	took := time.Since(began)
	system.Root.Stop(parent)
	stopped.Wait()
	return took
}

func supervisedSpawn(b *testing.B) time.Duration {
	var started, answered sync.WaitGroup
	started.Add(spawned)
	answered.Add(spawned)
	system, produce := benchSystem(), counted(&started)
	tree, err := Start(within(b), system, Spec{})
	if err != nil {
		b.Fatal(err)
	}
	asker := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch msg := c.Message().(type) {
		case do:
			msg(c)
		case *StartChildResult:
			answered.Done()
		}
	}))
	began := time.Now()
	system.Root.Send(asker, do(func(c actor.Context) {
		for i := range spawned {
			c.Request(tree.PID(), &StartChild{Spec: ChildSpec{Name: strconv.Itoa(i), New: produce}})
		}
	}))
	started.Wait()
	answered.Wait()
	took := time.Since(began)
	system.Root.Stop(asker)
	if err := tree.Stop(within(b)); err != nil {
		b.Fatal(err)
	}
	return took
}
