package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/internal/clock"
)

// call runs callers that each do one operation after the other, and returns the
// operations per second. caller makes the operation of a caller; it is called with
// the operation's number.
func call(callers int, d time.Duration, caller func(id int) func(i int) error) (float64, error) {
	var (
		stop    atomic.Bool
		total   atomic.Int64
		failure firstError
		all     sync.WaitGroup
	)
	begin := clock.Now()
	timer := clock.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	for id := range callers {
		operation := caller(id)
		all.Go(func() {
			n := 0
			for ; !stop.Load(); n++ {
				if err := operation(n); err != nil {
					failure.set(err)
					stop.Store(true)
				}
			}
			total.Add(int64(n))
		})
	}
	all.Wait()
	return float64(total.Load()) / clock.Since(begin).Seconds(), failure.get()
}

// fly keeps operations in flight from one goroutine, and returns the operations
// per second. launcher is given what to call when an operation is done, and makes
// what begins one.
func fly(inFlight int, d time.Duration, launcher func(done func(error)) func(i int)) (float64, error) {
	var (
		stop    atomic.Bool
		failure firstError
	)
	free := make(chan struct{}, inFlight)
	for range inFlight {
		free <- struct{}{}
	}
	launch := launcher(func(err error) {
		if err != nil {
			failure.set(err)
			stop.Store(true)
		}
		free <- struct{}{}
	})
	begin := clock.Now()
	timer := clock.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	n := 0
	for ; !stop.Load(); n++ {
		<-free
		launch(n)
	}
	for range inFlight {
		<-free
	}
	return float64(n) / clock.Since(begin).Seconds(), failure.get()
}

// firstError keeps the first of the errors that goroutines meet.
type firstError struct{ first atomic.Pointer[error] }

func (f *firstError) set(err error) { f.first.CompareAndSwap(nil, &err) }

func (f *firstError) get() error {
	if p := f.first.Load(); p != nil {
		return *p
	}
	return nil
}
