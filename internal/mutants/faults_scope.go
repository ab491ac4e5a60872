package main

var scopeFaults = []fault{
	{
		file: "observe.go",
		old: `		if c := p.adopt(s); c != nil {
			s.inherit(c)
			return
		}
`,
		new: "		p.adopt(s)\n",
		why: "a scope that is linked below a canceled one does not look at that",
		pkg: ".", run: "^TestSimObserve$", tags: model,
	},
	{
		file: "observe.go",
		old:  "	if s.state.Load()&(canceled|closed) != 0 {\n		return s.reason()\n	}\n	if k",
		new:  "	if s.state.Load()&canceled != 0 {\n		return s.reason()\n	}\n	if k",
		why:  "a wrong mask: a scope that is linked below a closed one does not end",
		pkg:  ".", run: "^TestSimObserveClose$", tags: model,
	},
	{
		file: "host.go",
		old: `	if st&(canceled|closed) != 0 {
		s.mu.Unlock()
		return nil, false
	}
`,
		new: "",
		why: "a wait that begins under a canceled scope does not look again",
		pkg: ".", run: "^TestSimWait$", tags: model,
	},
	{
		file: "host.go",
		old:  "	s.waiters.Remove(w)\n",
		new:  "",
		why:  "a waiter that has ended stays in the scope's list",
		pkg:  ".", run: "^TestDetach$",
	},
	{
		file: "cancel.go",
		old:  "	if due := s.due.Load(); due > asOf {\n",
		new:  "	if due := s.due.Load(); due > asOf && due == clock.Forever {\n",
		why:  "an expiry does not look again whether the deadline was moved",
		pkg:  ".", run: "^TestSimDeadline$", tags: model,
	},
	{
		file: "cancel.go",
		old:  "			s.mu.Unlock()\n			s.await()\n",
		new:  "			s.mu.Unlock()\n",
		why:  "a second Cancel returns before the first one has canceled everything below",
		pkg:  ".", run: "^TestSimCancelTwice$", tags: model,
	},
	{
		file: "deadline.go",
		old:  "	if due > now {\n		return due, false\n	}\n",
		new:  "	if due > now {\n		return clock.Forever, false\n	}\n",
		why:  "a deadline that was moved later is dropped by the timer",
		pkg:  ".", run: "^TestSimDeadline$", tags: model,
	},
	{
		file: "exit.go",
		old:  "return c.made() && !s.inherited(c)",
		new:  "return c.made()",
		why:  "what was taken along from outside of a shield is dropped",
		pkg:  ".", run: "^TestConformance",
	},
	{
		file: "exit.go",
		old:  " && !s.deadAbove()\n",
		new:  "\n",
		why:  "an inner bound swallows the end of an outer one",
		pkg:  ".", run: "^TestConformance",
	},
	{
		file: "idle.go",
		old:  "		if old <= now || old >= due {",
		new:  "		if old == now-1 || old >= due {",
		why:  "Progress revives a scope whose idle limit has passed",
		pkg:  ".", run: "^Test(Idle|SimIdle)", tags: model,
	},
	{
		file: "idle.go",
		old:  "		if s.due.CompareAndSwap(old, due) {\n			return\n		}\n",
		new:  "		s.due.Store(due)\n		return\n",
		why:  "a store in the place of a compare-and-swap: Progress undoes a SetDeadline",
		pkg:  ".", run: "^Test(Idle|SimIdle)", tags: model,
	},
	{
		file: "link.go",
		old:  "	ended := s.AfterFunc(func() { stop() })\n",
		new:  "	ended := s.AfterFunc(func() {})\n",
		why:  "a scope that has ended stays linked to the other context",
		pkg:  ".", run: "^TestLinkEndsBubble$",
	},
	{
		file: "stop.go",
		old:  "	if old != nil && (old.fired.Load() || old.at <= st.at) {\n",
		new:  "	if old != nil && old.fired.Load() {\n",
		why:  "a second Stop makes the grace longer",
		pkg:  ".", run: "^Test(Stop|Conformance)",
	},
	{
		file: "stop.go",
		old:  "		k.cut(st)\n",
		new:  "		_ = k\n",
		why:  "the hard end of a Stop does not reach into shields",
		pkg:  ".", run: "^Test(Stop|Conformance)",
	},
	{
		file: "stop.go",
		old:  "		if st.needed() == need {\n			return\n		}\n",
		new:  "		return\n",
		why:  "who sets a Stop's timer does not look again whether it is needed",
		pkg:  ".", run: "^TestSimStop", tags: model,
	},
}

var nurseryFaults = []fault{
	{
		file: "child.go",
		old:  "		if n.alive.CompareAndSwap(alive, alive+who) {\n			return\n		}\n",
		new:  "		n.alive.Add(who)\n		return\n",
		why:  "who enters does not see that the last one has left in the meantime",
		pkg:  ".", run: "^TestSimNurseryOutsider$", tags: model,
	},
	{
		file: "child.go",
		old:  "	case alive == 0:\n",
		new:  "	case alive%aService == 0:\n",
		why:  "a nursery ends before its services",
		pkg:  ".", run: "^TestConformance",
	},
	{
		file: "child.go",
		old:  "	if n.alive.Load() == 0 {\n		n.mu.Unlock()\n		return\n	}\n",
		new:  "",
		why:  "the body waits for children that have ended already",
		pkg:  ".", run: "^Test(SimNursery$|Conformance)", tags: model,
	},
	{
		file: "child.go",
		old:  "	case alive%aService == 0:\n",
		new:  "	case alive%theBody == 0:\n",
		why:  "services are told to end while the body runs",
		pkg:  ".", run: "^TestConformance",
	},
	{
		file: "child.go",
		old:  "	if w == nil {\n		n.slots--\n	}\n",
		new:  "	n.slots--\n",
		why:  "a slot that was handed over counts as free as well",
		pkg:  ".", run: "^TestConformance",
	},
	{
		file: "child.go",
		old:  "	if err == nil || n.supervise && source == BySibling {\n",
		new:  "	if err == nil || n.supervise {\n",
		why:  "a supervising nursery goes on though its body has failed",
		pkg:  ".", run: "^TestSuperviseBodyFailsBubble$",
	},
	{
		file: "start.go",
		old:  "	if h.state != pending || !live {\n",
		new:  "	if h.state != pending && !live {\n",
		why:  "a child that was refused, or has ended, is handed over",
		pkg:  ".", run: "^Test(SimStart$|Conformance)", tags: model,
	},
	{
		file: "start.go",
		old:  "	if h.state == handed || h.done {\n",
		new:  "	if h.done {\n",
		why:  "a starter that was canceled waits for a child that is the nursery's already",
		pkg:  ".", run: "^TestSimStart$", tags: model,
	},
	{
		file: "race.go",
		old:  "	if w != nil {\n		w.Wake(t, park.Woken)\n	}\n	return first",
		new:  "	if w != nil && first {\n		w.Wake(t, park.Woken)\n	}\n	return first",
		why:  "a call of Hedge that has failed lets no other begin before the delay is over",
		pkg:  ".", run: "^Test(Hedge|Conformance)$",
	},
}

var httpioFaults = []fault{
	{
		file: "httpio/tail.go",
		old:  "	t.asked.Store(int64(clock.Forever))\n	return true\n",
		new:  "	return true\n",
		why:  "what a Middleware has asked for bounds the answers of later requests, too",
		pkg:  "./httpio", run: "^TestServeTail",
	},
	{
		file: "httpio/middleware.go",
		old:  "				t.asked.Store(int64(due)) // T1\n",
		new:  "				t.asked.Store(int64(due))\n				t.leave()\n",
		why:  "the end of an answer is bounded while another handler goes on with it",
		pkg:  "./httpio", run: "^TestServeTail",
	},
	{
		file: "httpio/middleware.go",
		old:  "&& answers(e.ResponseWriter) {",
		new:  "{",
		why:  "who answers nobody bounds the answer of another",
		pkg:  "./httpio", run: "^TestServeTail",
	},
	{
		file: "httpio/tail.go",
		old:  "				t.(*tail).done()\n",
		new:  "",
		why:  "a connection that is idle again keeps the bound of its last answer",
		pkg:  "./httpio", run: "^TestServeTail",
	},
	{
		file: "httpio/tail.go",
		old:  "		return clock.Forever, t.due.CompareAndSwap(due, over) // T5\n",
		new:  "		return clock.Forever, false\n",
		why:  "the end of an answer is not bounded at all",
		pkg:  "./httpio", run: "^TestServeTail",
	},
	{
		file: "httpio/tail.go",
		old:  " && !t.gone.Load() {",
		new:  " {",
		why:  "a connection that was hijacked meanwhile is closed at the bound of an answer",
		pkg:  "./httpio", run: "^TestServeTail",
	},
	{
		file: "httpio/tail.go",
		old:  "	if !t.inside.CompareAndSwap(false, true) {\n		return false\n	}\n",
		new:  "",
		why:  "a request that its handler gives to the server once more loses its context",
		pkg:  "./httpio", run: "^TestServeTwice$",
	},
}

var execioFaults = []fault{
	{
		file: "execio/proc_linux.go",
		old:  "		if len(all) == before {\n",
		new:  "		if len(all) >= before {\n",
		why:  "who is born while the processes are read is not found",
		pkg:  "./execio", run: "^TestReadMissesNoChild$",
	},
	{
		file: "execio/proc_linux.go",
		old:  "	if p.threads > 1 {\n",
		new:  "	if p.threads < 0 {\n",
		why:  "a process counts as stopped when its first thread is",
		pkg:  "./execio", run: "^TestStopped$",
	},
}

var netioFaults = []fault{
	{
		file: "netio/side.go",
		old:  " || scope.Err() != nil {",
		new:  " {",
		why:  "an operation does not look at its context after it has stored the token",
		pkg:  "./netio", run: "^Test(EndedIsNotKept|GoodbyeIsBound|SimScopes)$", tags: model,
	},
	{
		file: "netio/side.go",
		old:  "	if ctx.Err() != nil {\n		return t, park.Reason(ctx)\n	}\n	if scope",
		new:  "	if scope",
		why:  "the first operation under a context does not look at it after it has stored the token",
		pkg:  "./netio", run: "^Test(EndsWithContext|ContextPanics|SimPoke)$", tags: model,
	},
	{
		file: "netio/side.go",
		old:  "		poked = true\n		s.unpoke()\n",
		new:  "		poked = true\n",
		why:  "the deadline in the past stays, and the next operation fails",
		pkg:  "./netio", run: "^Test(EndsWithContext|NotPoked|SimPoke)", tags: model,
	},
	{
		file: "netio/side.go",
		old:  "		s.hold(t)\n		t = park.Token{}\n",
		new:  "",
		why:  "the waiter is filed elsewhere while the scope of the operation before may resolve it",
		pkg:  "./netio", run: "^Test(Filing|SimScopes|SimPoke)", tags: model,
	},
	{
		file: "netio/turn.go",
		old:  "			step.At(\"netio.want\")\n			s.flags.Or(wanted) // R2\n			t, got = s.w.Claim()\n",
		new:  "			t, got = s.w.Claim()\n			step.At(\"netio.want\")\n			s.flags.Or(wanted) // R2\n",
		why:  "who wants the turn tries it first and says so then, when it may be free",
		pkg:  "./netio", run: "^TestSimTurn$", tags: model,
	},
	{
		file: "netio/turn.go",
		old:  "			if left == 0 {",
		new:  "			if left >= 0 {",
		why:  "of several who want the turn only the first is woken",
		pkg:  "./netio", run: "^TestTurn",
	},
	{
		file: "netio/side.go",
		old:  "	if !s.poked {\n		if err := s.set(t)",
		new:  "	if true {\n		if err := s.set(t)",
		why:  "a user's deadline undoes a poke",
		pkg:  "./netio", run: "^TestUserDeadline",
	},
	{
		file: "netio/side.go",
		old:  "	case s.w.Withdraw(t) == park.Self:\n		s.pass()\n",
		new:  "	case s.w.Withdraw(t) == park.Self:\n",
		why:  "a connection that is closed during an operation stays filed in the scope",
		pkg:  "./netio", run: "^TestClose|^TestStormCloses",
	},
	{
		file: "netio/side.go",
		old:  "	l.list.Remove(w)\n",
		new:  "",
		why:  "a link that was cut still pokes",
		pkg:  "./netio", run: "^Test(NotPoked|Filing|EndsWith|SimPoke)", tags: model,
	},
	{
		file: "netio/side.go",
		old:  "	s.poked = false\n",
		new:  "",
		why:  "who undoes a poke forgets to say so, and the user's deadline is never set again",
		pkg:  "./netio", run: "^TestUserDeadlineAgainBubble$",
	},
}
