// Package e2e has tests of the library against real peers: a PostgreSQL server through a real driver, curl,
// nginx, servers that misbehave in the ways that networks do, a WebSocket.
//
// Each test starts its own instance of a peer, in a temporary folder, and stops it. A peer that is not installed
// is said so, with the word SKIPPED; where the environment has CI=true that is a failure. .ci/run e2e installs them.
//
// All is in real time: the tests wait for what is to happen, and assert no upper bound but that of not hanging.
package e2e
