/**
 * Looks for the turn of the event loop that computed longest, until it is asked: seconds of the processor.
 * They stand still while other processes have it, as a clock does not.
 */
export function watchTurns(): () => number {
  let last = process.cpuUsage();
  let longest = 0;
  const look = (): void => {
    const now = process.cpuUsage();
    longest = Math.max(longest, now.user + now.system - last.user - last.system);
    last = now;
  };
  const timer = setInterval(look, 10).unref();
  return () => {
    clearInterval(timer);
    look();
    return longest / 1e6;
  };
}
