package process

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The ports below the range that the kernel gives to outgoing connections: one of those
// could take a port, or connect to itself, while its node is down.
const (
	lowest = 10_000
	ports  = 10_000
)

// Each call takes the ports that follow those of the calls before: a port that was given
// and that nobody listens on yet is not given again. The first is at random, for the sake
// of other processes.
var (
	first = rand.IntN(ports)
	taken atomic.Int64
)

// FreeAddress is a free port of the loopback interface, another one at each call.
func FreeAddress() (string, error) {
	for range 100 {
		port := lowest + (first+int(taken.Add(1)))%ports
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		listener, err := net.Listen("tcp", address) //nolint:noctx // binding does not wait
		if err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port on 127.0.0.1")
}
