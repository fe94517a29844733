package flags

import (
	"fmt"
	"net"
	"strconv"
)

// Listen refuses what no socket can be bound to. Port 0 takes a free one.
func Listen(name, address string) error {
	_, _, err := split(name, address)
	return err
}

// Reachable refuses what nobody can call.
func Reachable(name, address string) error {
	host, port, err := split(name, address)
	switch {
	case err != nil:
		return err
	case host == "":
		return fmt.Errorf("%s %q: the host is missing", name, address)
	case port == 0:
		return fmt.Errorf("%s %q: the port has to be between 1 and 65535", name, address)
	}
	return nil
}

func split(name, address string) (host string, port int, err error) {
	if address == "" {
		return "", 0, fmt.Errorf("%s is empty: give it a host:port such as 127.0.0.1:8001", name)
	}
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("%s %q: it has to be host:port", name, address)
	}
	port, err = strconv.Atoi(digits)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%s %q: the port has to be a number up to 65535", name, address)
	}
	return host, port, nil
}
