package syncs

// Queued reports whether somebody waits for the lock.
func (g *Guard[T]) Queued() bool { return g.mu.Queued() }

// Take and Free hold the lock from outside.
func (g *Guard[T]) Take() bool { return g.mu.TryLock() }
func (g *Guard[T]) Free()      { g.mu.Unlock() }
