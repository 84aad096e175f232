/** Looks for one sort of thing that must not be seen and reports where each begins and ends. Must run in linear time. */
export type Finder = (text: string, found: Found) => void

export type Found = (start: number, end: number) => void
