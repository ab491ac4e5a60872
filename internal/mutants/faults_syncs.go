package main

var lockFaults = []fault{
	{
		file: "syncs/mutex.go",
		old: `			if !m.coming && !m.queue.Empty() {
				next |= queued
			}
`,
		new: "",
		why: "a mutex that is taken forgets that others are queued",
		pkg: "./syncs", run: "^TestSimMutex$", tags: model,
	},
	{
		file: "syncs/mutex.go",
		old:  "		// It tries whatever its context says: the wake-up must not be lost. The next wait looks at that.\n",
		new:  "		if ctx.Err() != nil {\n			return t, false\n		}\n",
		why:  "one who was woken looks at its context first, and takes the wake-up along",
		pkg:  "./syncs", run: "^TestSimMutex$", tags: model,
	},
	{
		file: "syncs/mutex.go",
		old:  "	m.coming = true // still\n",
		new:  "",
		why:  "a waiter that is coming, and loses, is forgotten",
		pkg:  "./syncs", run: "^TestMutexTransitions$", tags: model,
	},
	{
		file: "syncs/mutex.go",
		old:  " && clock.Now().Sub(l.since) > starving:\n",
		new:  " && clock.Now().Sub(l.since) < 0:\n",
		why:  "nobody is ever handed the lock, however long he starves",
		pkg:  "./syncs", run: "^TestMutex",
	},
	{
		file: "syncs/rwmutex.go",
		old: `	if m.word.Load() < reader {
		m.mu.Unlock()
		park.Put(w)
		return nil
	}
`,
		new: "",
		why: "a writer that drains does not look again whether the last reader has left",
		pkg: "./syncs", run: "^TestSimRWMutexDrain$", tags: model,
	},
	{
		file: "syncs/rwmutex.go",
		old:  "		m.word.And(^reading) // R7\n",
		new:  "",
		why:  "the bit of the readers stays when the last that waits has left",
		pkg:  "./syncs", run: "^Test(Bubble)?RWMutex",
	},
	{
		file: "syncs/rwmutex.go",
		old:  "			m.runlockSlow(v - reader)\n			return false",
		new:  "			return false",
		why:  "a reader that takes its mark back does not tell the writer who drains",
		pkg:  "./syncs", run: "^TestSimRWMutex", tags: model,
	},
	{
		file: "syncs/rwmutex.go",
		old:  "		if w, _ = m.drainer.Resolve(); w != nil { // R4",
		new:  "		if w, _ = m.drainer.Resolve(); w != nil && v == 0 { // R4",
		why:  "the last reader takes a writer out of the list and does not count it; a wrong mask",
		pkg:  "./syncs", run: "^Test(Bubble)?RWMutex",
	},
	{
		file: "syncs/ticket.go",
		old:  "		t.m.Unlock()\n		return\n",
		new:  "		return\n",
		why:  "a ticket that has the lock already is given up, and keeps it",
		pkg:  "./syncs", run: "^Test(Ticket|FairMutex|SimFairMutex)", tags: model,
	},
	{
		file: "syncs/keyedmutex.go",
		old:  "		m.keys.drop(k)\n",
		new:  "",
		why:  "a key that is unlocked stays in the map",
		pkg:  "./syncs", run: "^TestKeyedMutexTransitions$",
	},
	{
		file: "syncs/keyedmutex.go",
		old:  "	if m.takeLocked(k) {\n		return nil, park.Token{}\n	}\n	q, t",
		new:  "	q, t",
		why:  "who waits for a key does not look again under the lock",
		pkg:  "./syncs", run: "^TestSimKeyedMutex$", tags: model,
	},
	{
		file: "syncs/semaphore.go",
		old:  "	s.line.Remove(a)\n	ended := s.grantLocked()\n",
		new:  "	s.line.Remove(a)\n	var ended line\n",
		why:  "the first in line leaves, and those behind who fit stay",
		pkg:  "./syncs", run: "^TestBubbleSemaphoreLeaves$",
	},
	{
		file: "syncs/semaphore.go",
		old:  "		if a.w.Resolve(a.t, park.Woken) { // S5\n			free -= a.n\n",
		new:  "		free -= a.n\n		if a.w.Resolve(a.t, park.Woken) { // S5\n",
		why:  "permits are given to one who was canceled",
		pkg:  "./syncs", run: "^Test(Semaphore|SimSemaphore)", tags: model,
	},
	{
		file: "syncs/semaphore.go",
		old:  "		case v&inLine == 0 && a.n <= v>>1:\n",
		new:  "		case false:\n",
		why:  "who queues does not look again whether it fits",
		pkg:  "./syncs", run: "^Test(SemaphoreTransitions|SimSemaphore)$", tags: model,
	},
}

var signalFaults = []fault{
	{
		file: "syncs/event.go",
		old:  "	if e.set.Load() {\n		return o\n	}\n	e.queue",
		new:  "	e.queue",
		why:  "who queues at an event does not look again whether it is set",
		pkg:  "./syncs", run: "^TestSimEvent$", tags: model,
	},
	{
		file: "syncs/autoevent.go",
		old:  "		e.word.Store(raised) // A5\n",
		new:  "		e.word.Store(lowered)\n",
		why:  "a Set that meets only canceled waiters is lost",
		pkg:  "./syncs", run: "^Test(AutoEvent|SimEvent)", tags: model,
	},
	{
		file: "syncs/cond.go",
		old:  "	step.At(\"cond.unlock\")\n	c.L.Unlock()\n",
		new:  "	c.remove(n)\n	c.L.Unlock()\n	step.At(\"cond.unlock\")\n	c.add(n, w, t)\n",
		why:  "who waits for a signal is queued only after it has given up the lock",
		pkg:  "./syncs", run: "^TestSimCond$", tags: model,
	},
	{
		file: "syncs/cond.go",
		old:  "	c.queue.Remove(n) // C4\n	c.queued.Store(!c.queue.Empty())\n",
		new:  "	c.queue.Remove(n) // C4\n	c.queued.Store(false)\n",
		why:  "one who leaves a condition takes the mark of the others along",
		pkg:  "./syncs", run: "^Test(Cond|SimCond)", tags: model,
	},
	{
		file: "syncs/future.go",
		old:  "	if !f.word.CompareAndSwap(claimed, complete) { // F2\n		f.publish(v, err)\n	}\n",
		new:  "	if f.word.Load() == claimed {\n		step.At(\"future.complete\")\n		f.word.Store(complete)\n	} else {\n		f.publish(v, err)\n	}\n",
		why:  "a look and a store in the place of a compare-and-swap: who asks between them is not told",
		pkg:  "./syncs", run: "^TestSimFutureAsked$", tags: model,
	},
	{
		file: "syncs/future.go",
		old:  "	f.v, f.err = v, err\n	step.At(\"future.complete\")\n",
		new:  "	step.At(\"future.complete\")\n	defer func() { f.v, f.err = v, err }()\n",
		why:  "two stores swapped: complete comes before the value",
		pkg:  "./syncs", run: "^Test(Future|SimFuture)", tags: model,
	},
	{
		file: "syncs/waitgroup.go",
		old:  "		if s>>1 == 0 {\n			return o\n		}\n",
		new:  "",
		why:  "who queues at a wait group does not look again whether the counter is 0",
		pkg:  "./syncs", run: "^TestSimWaitGroup", tags: model,
	},
	{
		file: "syncs/waitgroup.go",
		old:  "	ok := g.word.CompareAndSwap(s, 0)\n",
		new:  "	g.word.Store(0)\n	ok := true\n",
		why:  "a store in the place of a compare-and-swap: an Add meanwhile is lost",
		pkg:  "./syncs", run: "^TestSimWaitGroup", tags: model,
	},
	{
		file: "syncs/barrier.go",
		old:  "	b.arrived--\n",
		new:  "",
		why:  "one who leaves a barrier still counts",
		pkg:  "./syncs", run: "^Test(Bubble)?Barrier",
	},
	{
		file: "syncs/barrier.go",
		old:  "	if o != park.Woken && b.leave(n) {\n",
		new:  "	if o != park.Woken {\n		b.leave(n)\n",
		why:  "one who was counted in a complete round is told that it was canceled",
		pkg:  "./syncs", run: "^Test(BubbleBarrier|Barrier|SimBarrier)", tags: model,
	},
	{
		file: "syncs/futex.go",
		old:  "			if f.s.reaches(old + 1) {\n",
		new:  "			if f.s.reaches(old) {\n",
		why:  "off by one: a post wakes those who wait for the one before",
		pkg:  "./syncs", run: "^TestBubbleFutexWakes$",
	},
	{
		file: "syncs/waitall.go",
		old:  "	step.At(\"waitall.add\")\n	o := s.add(x.node(), x.w, x.t, park.Woken)\n	if o != park.Pending {\n		x.w.Withdraw(x.t)\n",
		new:  "	step.At(\"waitall.add\")\n	o := s.add(x.node(), x.w, x.t, park.Woken)\n	if o != park.Pending {\n",
		why:  "a seat whose source is ready is given back armed",
		pkg:  "./syncs", run: "^Test(BubbleWaitAll|WaitAll|SimWaitAll)", tags: model,
	},
	{
		file: "syncs/waitall.go",
		old:  "	if all.closed {\n		return false\n	}\n",
		new:  "",
		why:  "a source that is closed before the goroutine waits in another seat ends nothing",
		pkg:  "./syncs", run: "^TestSimWaitAllClosed$", tags: model,
	},
}

var handoverFaults = []fault{
	{
		file: "syncs/pool.go",
		old:  "	if v, ok := p.takeLocked(); ok || p.closed {\n",
		new:  "	if v, ok := v, false; ok || p.closed {\n",
		why:  "a Get that is about to wait does not look again for an idle item",
		pkg:  "./syncs", run: "^TestSimPool", tags: model,
	},
	{
		file: "syncs/pool.go",
		old:  "	if to := p.asker(a, park.Woken); to != nil {\n		return to\n	}\n",
		new:  "	if to := p.asker(a, park.Woken); to != nil || a != nil {\n		return to\n	}\n",
		why:  "an item whose Get has left comes to rest, though others wait",
		pkg:  "./syncs", run: "^Test(BubblePool|Pool|SimPool)", tags: model,
	},
	{
		file: "syncs/poolitem.go",
		old:  "	p.total-- // P5\n",
		new:  "",
		why:  "a place is lost when New fails",
		pkg:  "./syncs", run: "^Test(Bubble)?Pool",
	},
	{
		file: "syncs/queue.go",
		old:  "	ws = q.putting.resolveAll(park.Closed, ws)\n",
		new:  "",
		why:  "Close wakes only those who get",
		pkg:  "./syncs", run: "^Test(Bubble)?Queue",
	},
	{
		file: "syncs/queue.go",
		old: `		if q.in.n < q.room {
			if next, from, more := q.up(); more {
				q.in.pushBack(next)
				w = from
			}
		}
`,
		new: "",
		why: "a Get does not let the first who puts come up",
		pkg: "./syncs", run: "^Test(Bubble)?Queue",
	},
	{
		file: "syncs/queue.go",
		old:  "	other, ok := q.put(v)\n	if ok || q.closed {\n",
		new:  "	var other *park.Waiter\n	ok := false\n	if ok || q.closed {\n",
		why:  "a Put that is about to wait does not look again for room, or for one who gets",
		pkg:  "./syncs", run: "^TestSimQueue", tags: model,
	},
	{
		file: "syncs/flight.go",
		old:  "		g.forget(k, c) // K4\n",
		new:  "",
		why:  "a call that is lost stays in the map, and the next caller boards it",
		pkg:  "./syncs", run: "^Test(Bubble)?Flight",
	},
	{
		file: "syncs/flight.go",
		old:  "	last := c.callers == 0 && !c.landed\n",
		new:  "	last := c.callers == 1 && !c.landed\n",
		why:  "off by one: the last caller but one cancels the call",
		pkg:  "./syncs", run: "^Test(Bubble)?Flight",
	},
	{
		file: "syncs/sequencer.go",
		old:  "	c := s.word.Add(1) &^ shut // Q1\n	step.At(\"sequencer.moved\")\n	if s.reaches(c) {\n",
		new:  "	reached := s.reaches(s.word.Load() + 1)\n	step.At(\"sequencer.moved\")\n	s.word.Add(1)\n	if reached {\n",
		why:  "who counts looks for those who wait before it has counted",
		pkg:  "./syncs", run: "^TestSimSequencer$", tags: model,
	},
}
