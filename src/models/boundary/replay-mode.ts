/**
 * `off`: no cassette. `record`: everything is asked anew and kept. `strict`: everything comes from the cassette, and a call it
 * does not know makes the trial invalid. `auto`: from the cassette what it knows, the rest is asked and kept.
 */
export const replayModes = ['off', 'auto', 'record', 'strict'] as const

export type ReplayMode = (typeof replayModes)[number]
