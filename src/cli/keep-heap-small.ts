import { setFlagsFromString } from 'node:v8'

/**
 * For a long run of short trials: by default the heap grows to several times its used size. Call it once everything is loaded, so
 * that startup is not slowed down.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
  // Smaller steps between collections: 5,000 trials peak at 1.2 times the memory of 500 instead of 1.35, for the same CPU time.
  setFlagsFromString('--optimize-for-size')
}
