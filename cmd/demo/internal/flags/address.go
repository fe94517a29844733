package flags

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Listen refuses what no socket can be bound to. Port 0 takes a free one.
func Listen(name, address string) error {
	if address == "" {
		return fmt.Errorf("%s is empty: give it a host:port such as 127.0.0.1:8001", name)
	}
	if _, _, err := split(address); err != nil {
		return fmt.Errorf("%s %q: %w", name, address, err)
	}
	return nil
}

// Reachable refuses what nobody can call.
func Reachable(name, address string) error {
	host, port, err := split(address)
	switch {
	case err != nil:
		return fmt.Errorf("%s %q: %w", name, address, err)
	case host == "":
		return fmt.Errorf("%s %q: the host is missing", name, address)
	case port == 0:
		return fmt.Errorf("%s %q: the port has to be between 1 and 65535", name, address)
	}
	return nil
}

func split(address string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, errors.New("it has to be host:port")
	}
	port, err = strconv.Atoi(digits)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, errors.New("the port has to be a number up to 65535")
	}
	return host, port, nil
}
