package netio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// Dial uses the zero [Dialer].
func Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return new(Dialer).DialContext(ctx, network, addr)
}

// A Dialer connects to a name that has several addresses in the way of RFC 8305, "Happy Eyeballs": it tries them one
// after the other, in turns between IPv6 and IPv4, and does not wait for one to fail: when Delay has passed, or when one
// has failed, it starts the next beside those under way. The first connection that stands is returned, and all the
// others are closed, or their attempts canceled, before DialContext returns.
//
// The zero Dialer is ready. It is safe for concurrent use.
type Dialer struct {
	// Delay is how long an attempt is alone before the next is started. If it is not positive: 250 ms, as the RFC
	// recommends.
	Delay time.Duration

	// Dial makes one attempt, to an address that is not a name. It ends when ctx does. nil: a net.Dialer's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Lookup finds the addresses of a name, in the order of preference; network is "ip", "ip4" or "ip6". It ends when ctx
	// does. nil: that of net.DefaultResolver.
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// DialContext has the signature that http.Transport and others take. The connection does not end with ctx: [Bind] it.
//
// Networks are those of net.Dial. What has one address at most, such as a Unix socket, is one attempt.
//
// If all attempts fail it returns their errors, joined, in the order in which they failed. If ctx ends before a
// connection stands, it returns the context's error.
func (d *Dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := park.Err(ctx); err != nil {
		return nil, err
	}
	addrs, err := d.addrs(ctx, network, addr)
	if err != nil {
		return nil, because(ctx, err)
	}
	var next atomic.Int32
	var won atomic.Bool
	return bide.Hedge(ctx, d.delay(), len(addrs), func(ctx context.Context) (net.Conn, error) {
		c, err := d.dial(ctx, network, addrs[next.Add(1)-1])
		if err == nil && !won.CompareAndSwap(false, true) {
			c.Close()
			return nil, errLost
		}
		return c, err
	})
}

var errLost = errors.New("bide/netio: another address was faster") // nobody sees it

func (d *Dialer) delay() time.Duration {
	if d.Delay > 0 {
		return d.Delay
	}
	return 250 * time.Millisecond
}

// dial makes one attempt.
func (d *Dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := d.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	c, err := dial(ctx, network, addr)
	if err != nil {
		return nil, because(ctx, err)
	}
	if c == nil {
		const neither = "bide/netio: dial %s %q: Dialer.Dial returned neither a connection nor an error"
		return nil, fmt.Errorf(neither, network, addr)
	}
	return c, nil
}

// addrs are the addresses to try, in this order.
func (d *Dialer) addrs(ctx context.Context, network, addr string) ([]string, error) {
	var family string
	switch network {
	case "tcp", "udp":
		family = "ip"
	case "tcp4", "udp4":
		family = "ip4"
	case "tcp6", "udp6":
		family = "ip6"
	default:
		return []string{addr}, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("bide/netio: dial %s %q: %w: write host:port", network, addr, err)
	}
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return []string{addr}, nil
	}
	lookup := d.Lookup
	if lookup == nil {
		lookup = net.DefaultResolver.LookupNetIP
	}
	ips, err := lookup(ctx, family, host)
	if err != nil {
		return nil, err
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("bide/netio: dial %s %q: the name has no address", network, addr)
	}
	addrs := make([]string, len(ips))
	for i, ip := range inTurns(ips) {
		addrs[i] = net.JoinHostPort(ip.String(), port)
	}
	return addrs, nil
}

// inTurns puts the addresses of the two families in turns, that of the first one first, and keeps their order.
func inTurns(ips []netip.Addr) []netip.Addr {
	var a, b []netip.Addr
	for _, ip := range ips {
		ip = ip.Unmap()
		if len(a) == 0 || ip.Is4() == a[0].Is4() {
			a = append(a, ip)
		} else {
			b = append(b, ip)
		}
	}
	var all []netip.Addr
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			all = append(all, a[i])
		}
		if i < len(b) {
			all = append(all, b[i])
		}
	}
	return all
}

// because is err, or what ended ctx if that is why: package net hides it.
func because(ctx context.Context, err error) error {
	if end := park.Err(ctx); end != nil {
		return end
	}
	return err
}
