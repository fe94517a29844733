package main

import (
	"context"
	"errors"
	"fmt"
)

// A suite is what one run measures.
type suite struct {
	name       string
	benchmarks []benchmark
	info       func(ctx context.Context, say func(string, ...any)) ([]string, error)
	close      func() error
}

// ordinarySuite is the binding beside the Python binding, and what needs no other build.
func ordinarySuite() suite {
	python, s3 := &child{start: startPython}, &slowS3{}
	beside := func(name, work string, bound float64) benchmark {
		w := standard(work)
		return benchmark{name: name, goal: atLeast(bound), unit: work + "/s", ours: w.inGo, peer: python.measure(w)}
	}
	s := suite{name: "results", info: idleLines}
	s.benchmarks = []benchmark{
		beside("slatedb-put-vs-python", "put", 25),
		beside("slatedb-get-vs-python", "get", 15),
		beside("slatedb-batch100-vs-python", "batch", 20),
	}
	s.benchmarks = append(s.benchmarks, allocations()...)
	s.benchmarks = append(s.benchmarks, opening(s3), spawning())
	s.benchmarks = append(s.benchmarks, fencing("fence-idle-other-ask-p90", 0), fencing("fence-load-other-ask-p90", 16))
	s.benchmarks = append(s.benchmarks, quietly(s3)...)
	s.benchmarks = append(s.benchmarks, manyWriters()...)
	s.benchmarks = append(s.benchmarks, asking(1), asking(16), asking(256), starting())
	s.benchmarks = append(s.benchmarks, remotely()...)
	s.close = func() error { return errors.Join(python.close(), s3.close()) }
	return s
}

// nativeSuite is the binding beside the engine without a binding.
func nativeSuite() suite {
	native := &child{start: startNative}
	beside := func(name string, w workload, bound float64) benchmark {
		return benchmark{name: name, goal: atLeast(bound), unit: w.Work + "/s", ours: w.inGo, peer: native.measure(w)}
	}
	return suite{
		name: "native results",
		benchmarks: []benchmark{
			beside("slatedb-put64-vs-native", standard("put"), 0.5),
			beside("slatedb-get64-vs-native", standard("get"), 0.6),
			beside("slatedb-put1x64-vs-native", standard("put").fromOne(), 0.4),
			beside("slatedb-get1x64-vs-native", standard("get").fromOne(), 0.4),
		},
		close: native.close,
	}
}

// measure runs the benchmarks and tells each result when it is there.
func (s suite) measure(ctx context.Context, o options, tell func(line string)) (results []result, failed error) {
	for _, b := range s.benchmarks {
		if !o.only.MatchString(b.name) || ctx.Err() != nil {
			continue
		}
		r, err := b.run(ctx, o.plan)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s did not run: %w", b.name, err))
			continue
		}
		tell(r.String())
		tell(r.details())
		results = append(results, r)
	}
	return results, errors.Join(failed, context.Cause(ctx))
}
