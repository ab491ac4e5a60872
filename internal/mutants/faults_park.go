package main

var parkFaults = []fault{
	{
		file: "park/word.go",
		old:  "v := (w.v.Load()>>genShift+1)<<genShift | armedBit",
		new:  "v := w.v.Load()>>genShift<<genShift | armedBit",
		why:  "the generation stands still, and a stale token wins",
		pkg:  "./park", run: "^Test(Transitions|Generation|StaleTokens)$",
	},
	{
		file: "park/word.go",
		old:  "return t.v&armedBit != 0 && w.v.",
		new:  "return w.v.",
		why:  "the zero token wins against a waiter that was never armed",
		pkg:  "./park", run: "^Test(Transitions|NoTransition|Waiters)$",
	},
	{
		file: "park/waiter.go",
		old: `	step.At("park.deadline")
	if w.due.Load() != int64(deadline) {
		w.due.Store(int64(deadline)) // before the word: who sees the new token sees its deadline
	}
	t := w.word.arm()
`,
		new: `	t := w.word.arm()
	step.At("park.deadline")
	if w.due.Load() != int64(deadline) {
		w.due.Store(int64(deadline))
	}
`,
		why: "the deadline is stored behind the word, and the driver takes the last one's for it",
		pkg: "./park", run: "^TestSimWaiter$", tags: model,
	},
	{
		file: "park/waiter.go",
		old: `	step.At("park.owed")
	<-w.ch
`,
		new: "",
		why: "a wake-up that is owed is not received, and ends the next wait",
		pkg: "./park", run: "^TestWithdrawBubble$",
	},
	{
		file: "park/waiter.go",
		old:  "		ended = native && (!filed || ctx.Err() != nil)\n",
		new:  "		ended = native && !filed\n",
		why:  "a wait that begins again does not look at its context after arming",
		pkg:  "./park", run: "^TestWaitAgain$",
	},
	{
		file: "park/waiter.go",
		old:  "	h.Detach(w)\n",
		new:  "",
		why:  "a waiter that has ended stays in the host's list",
		pkg:  "./park", run: "^Test(Host|WaitUnder|Waiters)",
	},
	{
		file: "park/waiter.go",
		old:  "	if !w.word.resolve(t, Expired) {\n		return clock.Forever, false\n	}\n",
		new:  "	w.word.resolve(t, Expired)\n",
		why:  "the driver sends a wake-up though another has won",
		pkg:  "./park", run: "^TestSimWaiter$", tags: model,
	},
	{
		file: "park/waiter.go",
		old:  "	if w.fresh {\n		w.out.Store(true)",
		new:  "	if true {\n		w.out.Store(true)",
		why:  "a waiter that expired while it was armed forgets its entry, and leaves it linked",
		pkg:  "./park", run: "^TestSimRelease$", tags: model,
	},
	{
		file: "park/host.go",
		old:  "if t, armed := w.word.current(); armed && w.word.resolve(t, Canceled) {",
		new:  "if t, armed := w.word.current(); armed {\n			w.word.resolve(t, Canceled)",
		why:  "a cancel sends a wake-up though another has won",
		pkg:  ".", run: "^TestSimWakeAgainstCancel$", tags: model,
	},
	{
		file: "park/lot.go",
		old:  "if w.seat.at.Load() != b { // moved meanwhile",
		new:  "if false {",
		why:  "one who leaves a lot does not look again whether he was moved",
		pkg:  "./park", run: "^TestSimLotLeave$", tags: model,
	},
	{
		file: "park/lot.go",
		old: `			if node.w.Resolve(node.t, o) { // L2
				batch.add(node)
				woken++
			}
`,
		new: `			if node.w.Resolve(node.t, o) { // L2
				batch.add(node)
			}
			woken++
`,
		why: "a lot's wake-up is spent on one who was canceled",
		pkg: "./park", run: "^Test(Lot|BubbleLot)",
	},
	{
		file: "park/queue.go",
		old: `		if n.w.Resolve(n.t, o) {
			return n
		}
`,
		new: `		if n.w.Resolve(n.t, o) {
			return n
		}
		return nil
`,
		why: "whoever wakes gives up at the first who was canceled",
		pkg: "./park", run: "^Test(List|Batch)",
	},
}
