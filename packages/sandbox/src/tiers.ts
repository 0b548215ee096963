/** The tiers in which this machine can isolate sessions. */

/** Tiers of this machine, strongest first. Stronger than all is a sandbox on another machine. */
export const localTiers = ['micro-vm', 'gvisor', 'bubblewrap', 'landlock', 'process'] as const;
/** A tier of `localTiers`: how sessions on this machine are isolated. */
export type LocalTier = (typeof localTiers)[number];
