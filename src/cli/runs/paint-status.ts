import pc from 'picocolors'
import type { RunStatus } from '../../store/contract.ts'

/** The colour of an end, the same for runs and trials. */
export function paintStatus(text: string, status: RunStatus | 'unknown', color: boolean): string {
  const { green, red, yellow, cyan, dim } = pc.createColors(color)
  switch (status) {
    case 'pass':
      return green(text)
    case 'fail':
      return red(text)
    case 'infra':
    case 'invalid':
    case 'partial':
    case 'inconclusive':
    case 'interrupted':
      return yellow(text)
    case 'running':
      return cyan(text)
    case 'unknown':
      return dim(text)
  }
}
