import type { RateLimiter } from '../../io/rate-limiter.ts'
import type { Pause } from './pause.ts'
import type { ExecuteRequest } from './request.ts'
import type { Spending } from './spending.ts'
import type { Tally } from './tally.ts'

/** What the groups of one execution share. */
export interface GroupWork {
  readonly request: ExecuteRequest
  readonly spending: Spending
  readonly limiter: RateLimiter
  readonly pause: Pause
  readonly tally: Tally
}
