"""Speed, measured beside peers in one run. ``katachi bench`` shows what these modules measure."""
