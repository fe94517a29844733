package process

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreeAddress is a free port of the loopback interface, below the range that the
// kernel gives to outgoing connections: one of those could take the port, or
// connect to itself, while the node is down.
func FreeAddress() (string, error) {
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(10000+rand.IntN(10000)))
		listener, err := net.Listen("tcp", address) //nolint:noctx // binding does not wait
		if err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port on 127.0.0.1")
}
