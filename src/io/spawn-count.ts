/** A process that starts only a few programs starts them itself. The server is made ready a little before it is used. */
const readyAfter = 10
const usedAfter = 16

let started = 0

export function countSpawn(): number {
  started += 1
  return started
}

export function needsServerSoon(): boolean {
  return started > readyAfter
}

export function needsServer(): boolean {
  return started > usedAfter
}
