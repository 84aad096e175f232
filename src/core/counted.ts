/** A count and its noun: `1 trial`, `2 trials`, `1,200 trials`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`
}

/** With a comma at every thousand. Small counts avoid `toLocaleString`, which loads the locale data and slows down hooks. */
export function formatCount(count: number): string {
  return Math.abs(count) < 1_000 && Number.isInteger(count) ? String(count) : count.toLocaleString('en-US')
}
