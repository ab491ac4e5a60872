package syncs

// Stats is what a primitive's Stats method reports: whether others wait for it, and how often that ends badly. What a
// call that need not wait does is not counted, so that it costs nothing.
//
// # Fairness
//
// Taking them waits for nobody who holds the primitive.
//
// # Cancellation
//
// There is nothing to cancel.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// They are a reading of what others change meanwhile, and order nothing.
type Stats struct {
	Held    int64  // what is taken now: 1 or 0 of a mutex, or the number of readers inside, or permits
	Waiting int    // calls that wait now
	Waits   uint64 // calls that have had to wait, since the primitive was new; those of now as well
	Failed  uint64 // those of them that have got nothing: canceled, expired, or refused
}

// counts is the part of Stats that waiting calls keep, under the lock of the primitive's queue.
type counts struct {
	waiting       int
	waits, failed uint64
}

func (c *counts) begin() { c.waiting++; c.waits++ }
func (c *counts) end()   { c.waiting-- }
func (c *counts) fail()  { c.waiting--; c.failed++ }

func (c *counts) stats(held int64) Stats {
	return Stats{Held: held, Waiting: c.waiting, Waits: c.waits, Failed: c.failed}
}
